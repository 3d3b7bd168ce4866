"""Messages about runs to a broker: content, protocol and outbox."""
