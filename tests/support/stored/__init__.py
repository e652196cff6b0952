"""What the stores write, as releases wrote it: values to store, how to store and read them, and recorded items."""
