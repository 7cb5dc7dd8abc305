"""Training scripts for MindSpore, and changes of them: what ``test_changed_scripts.py`` runs twice and compares."""
