"""Names of files that hold keys and passwords."""

from __future__ import annotations

import fnmatch
import re

SECRETS = (
    ".env .env.* *.env .netrc _netrc .pgpass .htpasswd .npmrc .pypirc .git-credentials .dockercfg *.pem *.key"
    " *.p12 *.pfx *.jks *.keystore *.kdbx *.kdb *.ppk *.ovpn *.gpg id_rsa* id_dsa* id_ecdsa* id_ed25519*"
    " credentials* client_secret*.json service-account*.json service_account*.json secrets.* wallet.dat"
).split()
"""Names of files that hold keys and passwords; they are never read, not even when named on their own."""
_SECRET = re.compile("|".join(map(fnmatch.translate, SECRETS)))


def is_secret(name: str) -> bool:
    """Tell whether a file of this name is never read."""
    return _SECRET.match(name.lower()) is not None
