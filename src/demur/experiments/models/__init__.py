"""The models that runs need: trained in stages or opened, kept in the cache by what they are made from."""
