"""Clusters for the tests of other projects: a pytest plugin, and a mix-in for unittest. Both use the public interface only."""
