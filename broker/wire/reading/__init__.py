"""Reads capture files of odradek, tcpdump and Wireshark, and finds the exchanges in them."""
