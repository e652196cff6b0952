"""What people order of one host, and what their orders become."""
