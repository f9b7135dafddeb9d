"""Search the web safely: what a provider returns is data, and no address in it is opened."""
