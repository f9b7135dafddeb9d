"""Search the web safely: what a provider returns is data, and only the public web is opened."""
