"""Messages about runs, for whoever listens to a broker: what they say, the protocol, and the box they wait in."""
