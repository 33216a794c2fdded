"""What stands between the network and the service: what is let in, and how it is answered."""
