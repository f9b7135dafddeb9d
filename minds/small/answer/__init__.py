"""What is shown: sentences and passages chosen, set side by side, told."""
