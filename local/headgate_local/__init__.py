"""The whole service on one machine: the functions under one server, moto in the place of AWS, data that stay."""
