"""IO: calls the gpg binary so that nothing outside its home affects the result.

gpg gets no options file, no network, no key server and no trust database. It runs in the C locale with a time limit.
python-gnupg handles keys and makes signatures. To verify a signature, this module reads gpg's own status lines
(`openpgp`). It ignores the library's verdict and the exit code (ADR 5).
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gnupg

from cutter import limits
from cutter.errors import InvalidInput, NotFound, Unavailable
from cutter.openpgp import FINGERPRINT, STATUS, SignatureEvidence, read_status, status_words

_ISOLATED = ("--no-options", "--no-auto-key-retrieve", "--no-auto-key-locate", "--disable-dirmngr")
_SOCKET_PATH_MAX = 80
"""The longest path of a home, in bytes. A socket's path must have fewer than 108, and on macOS fewer than 104. The
longest name of an agent's socket has 20 with its slash.
"""

HANGS = ": `cutter doctor` names an agent that hangs"

_LINK_NAME_MAX = 27
"""The bytes that a link's name and its slash add to the path of its folder."""

_State = tuple[tuple[str, int, int, int], ...]
"""The identity, size and time of each file of keys."""

_KEY_FILES = ("pubring.kbx", "pubring.gpg", "secring.gpg", "private-keys-v1.d")
"""Where a GnuPG home keeps its keys: the keyrings, and a folder with one file for each private key."""

_FOLDERS: list[weakref.finalize[..., object]] = []
"""Temporary folders of keyrings. Each is removed with its owner. The process ends without finalizers, so it removes the
rest itself.
"""


class Gpg:
    """One GnuPG home and one binary.

    If `home` is None, it is the person's own home, for `cutter approve`. With `interactive`, the person's agent may ask
    for a passphrase. `required` are primary fingerprints that the keyring must hold. If one is missing, the keyring is
    unreadable; it does not mean that the signer is a stranger. With `existing`, the home is not made. Every method
    raises Unavailable(`what`) if the binary is missing, dies or hangs.
    """

    def __init__(
        self,
        home: Path | None,
        binary: str | None = None,
        *,
        interactive: bool = False,
        required: frozenset[str] = frozenset(),
        existing: bool = False,
        what: str = "gpg",
    ) -> None:
        self.binary = binary or find_binary()
        self.home = home
        self._interactive = interactive
        self._required = required
        self._what = what
        self._libraries: dict[bool, _Library] = {}
        self._kept: dict[str, tuple[_State, tuple[str, ...]]] = {}
        if home is not None and not existing:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)

    def version(self) -> tuple[int, ...]:
        """The binary's version, such as (2, 2, 40)."""
        version: tuple[int, ...] | None = self._ask(lambda library: library.version)
        if version is None:
            raise Unavailable(f"{self.binary} does not report its GnuPG version", what=self._what)
        return version

    def generate_key(self, name: str, *, expire: str | None = None) -> str:
        """Make an ed25519 signing key without a passphrase.

        Return its fingerprint. `expire` is in gpg's form (`2y`).
        """
        wanted = f"Key-Type: EDDSA\nKey-Curve: ed25519\nKey-Usage: sign\nName-Real: {name}\n"
        wanted += f"Expire-Date: {expire or 0}\n%no-protection\n%commit\n"
        made = self._ask(lambda library: library.gen_key(wanted), agent=True)
        if not made.fingerprint:
            raise _failed("make a key", made)
        return str(made.fingerprint)

    def ask_for_key(self, user: str, *, expire: str) -> str:
        """Make an ed25519 signing key with the passphrase for which the person's agent asks. Return its fingerprint."""
        words = ("--batch", "--status-fd", "1", "--quick-generate-key", user, "ed25519", "sign", expire)
        try:
            made = subprocess.run(
                [self.binary, *self._homedir(), *self._options(agent=True), *words], stdout=subprocess.PIPE, text=True,
                env=environment(person=True), check=False,
            )  # fmt: skip
        except OSError as problem:
            raise self._away(problem) from problem
        created = [words[-1] for words in status_words(made.stdout.splitlines()) if words[0] == "KEY_CREATED"]
        if not created:
            raise Unavailable(f"gpg made no key (exit code {made.returncode})", what=self._what)
        return created[0]

    def has_passphrase(self, fingerprint: str) -> bool:
        """True if the private key is encrypted with a passphrase. The agent knows it, and shows no key."""
        words = ("--with-colons", "--with-keygrip", "--list-keys", _full(fingerprint))
        listed = self._run(self._command(*words)).stdout.decode("utf-8", "replace")
        grips = [line.split(":")[9] for line in listed.splitlines() if line.startswith("grp:")]
        program = shutil.which("gpg-connect-agent", path=str(Path(self.binary).parent)) or "gpg-connect-agent"
        answer = self._run((program, *self._homedir(), f"KEYINFO {grips[0]}", "/bye")).stdout.decode("ascii", "replace")
        return answer.startswith("S KEYINFO ") and answer.split()[7] == "P"

    def add_encryption_key(self, fingerprint: str) -> None:
        """Add a cv25519 subkey, so that backups can be encrypted for a generated key."""
        words = {"algorithm": "cv25519", "usage": "encr", "expire": "never", "master_passphrase": ""}
        made = self._ask(lambda library: library.add_subkey(_full(fingerprint), **words), agent=True)
        if not made.fingerprint:
            raise _failed("add an encryption key", made)

    def export_key(self, fingerprint: str, *, secret: bool = False) -> bytes:
        """The armored public key, or the private one without a passphrase. Raises NotFound if the home lacks it."""
        words = {"secret": True, "expect_passphrase": False} if secret else {}
        key: str = self._ask(lambda library: library.export_keys(_full(fingerprint), **words), agent=secret)
        if not key:
            raise NotFound(f"no {'private' if secret else 'public'} key {fingerprint} in this home")
        return key.encode("ascii")

    def import_key(self, key: bytes, *, secret: bool = False) -> tuple[str, ...]:
        """Import public or private keys and return their primary fingerprints. Raises InvalidInput if there are none.

        gpg counts an unprotected private key as read even if it was there before, and a public key as none.
        """
        if len(key) > limits.PUBLIC_KEY_BYTES_MAX:
            kind = "private" if secret else "public"
            raise InvalidInput(f"a {kind} key has at most {limits.PUBLIC_KEY_BYTES_MAX} bytes")
        taken = self._ask(lambda library: library.import_keys(key), agent=secret)
        if secret and not taken.sec_read:
            raise InvalidInput("this is not an OpenPGP private key;", then="cutter keys make", rest=" writes one")
        if not taken.fingerprints:
            raise InvalidInput("this is not an OpenPGP public key; use gpg --armor --export FINGERPRINT")
        return tuple(dict.fromkeys(taken.fingerprints))

    def primary_fingerprints(self, *, secret: bool = False) -> tuple[str, ...]:
        """The primary fingerprints of the keys in this home. With `secret`, only of its private keys."""

        def listed() -> tuple[str, ...]:
            keys: list[dict[str, str]] = self._ask(lambda library: library.list_keys(secret), agent=secret)
            return tuple(key["fingerprint"] for key in keys)

        return self._once("private" if secret else "public", listed)

    def _once(self, name: str, make: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """The answer of `make`. gpg is asked again only after a file of keys has changed."""
        state = self._state_of_keys()
        before = self._kept.get(name)
        if before is not None and before[0] == state:
            return before[1]
        answer = make()
        if state:
            self._kept[name] = state, answer
        return answer

    def sign_detached(self, body: bytes, fingerprint: str, *, armor: bool = True) -> bytes:
        """A detached signature with SHA-512 by exactly that key.

        Raises Unavailable if the key or its agent is missing.
        """
        # The library's own `keyid` is gpg's default key. If that key is missing, gpg signs with another one.
        words = ["--digest-algo", "SHA512", "--local-user", _full(fingerprint)]
        signed = self._ask(
            lambda library: library.sign(body, detach=True, binary=not armor, extra_args=words), agent=True
        )
        if signed.returncode != 0 or not signed.data:
            raise _failed(f"sign with {fingerprint}", signed)
        return bytes(signed.data)

    def verify_detached(self, body: bytes, signature: bytes) -> SignatureEvidence:
        """gpg's evidence about a detached signature over these bytes.

        It never raises; `unverifiable` has the reason.
        """
        try:
            with _read_end(signature) as number:
                words = ("--status-fd", "1", "--enable-special-filenames", "--verify", "--", f"-&{number}", "-")
                done = self._run(self._command(*words), body, pass_fds=(number,))
            evidence = read_status(done.stdout.decode("utf-8", "replace").split("\n"))
            reason = None
            if done.returncode < 0:
                reason = f"gpg was ended by signal {-done.returncode}"
            elif not evidence.keywords:
                last = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1] or "no reason given"
                reason = f"gpg said nothing about the signature ({last})"
            elif "NO_PUBKEY" in evidence.keywords and self._required:
                missing = self._required - set(self.primary_fingerprints())
                if missing:
                    reason = f"the keyring of approvers cannot be read: {min(missing)} is missing from it"
        except (Unavailable, OSError) as problem:
            return SignatureEvidence(unverifiable=str(problem))
        return SignatureEvidence(records=evidence.records, keywords=evidence.keywords, unverifiable=reason)

    def encryption(self, fingerprint: str) -> tuple[str, ...]:
        """The command that compresses its input and encrypts it for exactly that key."""
        recipient = ("--no-encrypt-to", "--compress-algo", "zlib", "--recipient", _full(fingerprint))
        return self._command("--status-fd", "2", *recipient, "--encrypt")

    def decryption(self) -> tuple[str, ...]:
        """The command that decrypts its input. The home's agent must run (`start_agent`)."""
        return self._command("--status-fd", "2", "--decrypt")

    def key_listing(self) -> str:
        """The public keys of this home, in the form of `--with-colons` (GnuPG doc/DETAILS).

        A key that expires after gpg has listed it is still listed as usable, and gpg refuses to encrypt for it.
        """

        def listed() -> tuple[str, ...]:
            done = self._run(self._command("--with-colons", "--fixed-list-mode", "--list-keys"))
            if done.returncode != 0:
                problem = f"gpg cannot read the keys in {self.home} (exit code {done.returncode})"
                raise Unavailable(problem, what=self._what)
            return (done.stdout.decode("utf-8", "replace"),)

        return self._once("listing", listed)[0]

    def start_agent(self) -> None:
        """Start the one agent of this home, which decryption needs.

        This is a separate step, because gpg reports a missing agent and a missing private key in the same way.
        """
        program = self._gpgconf()
        if program is None:
            raise Unavailable("gpgconf is not installed (it comes with GnuPG)", what=self._what)
        if self._run((program, *self._homedir(), "--launch", "gpg-agent")).returncode != 0:
            raise Unavailable(f"no gpg agent runs for {self.home}: the folder must be writable", what=self._what)

    def stop_agent(self) -> None:
        """End this home's agent, if one runs, so that a deleted home has no running agent."""
        program = self._gpgconf()
        if program and self.home is not None:
            self._run((program, *self._homedir(), "--kill", "all"))
            with suppress(OSError):
                _link_of(self.home).unlink()

    def _gpgconf(self) -> str | None:
        return shutil.which("gpgconf", path=str(Path(self.binary).parent)) or shutil.which("gpgconf")

    def _ask(self, call: Callable[[Any], Any], *, agent: bool = False) -> Any:
        """Make one isolated call of the library. The answer may be a refusal. Raises Unavailable if gpg cannot run.

        A new object of the library costs one more process, because it asks gpg for its version. So each object is kept
        while its home exists.
        """
        try:
            home = str(self._path(self.home)) if self.home is not None else None
            if home is not None and not Path(home).is_dir():
                raise FileNotFoundError(errno.ENOENT, "it or its home is missing")
            if agent not in self._libraries:
                patience = threading.TIMEOUT_MAX if agent and self._interactive else limits.GPG_SECONDS
                self._libraries[agent] = _Library(
                    patience, gpgbinary=self.binary, gnupghome=home, options=self._options(agent=agent),
                    env=environment(person=self._interactive),
                )  # fmt: skip
            return call(self._libraries[agent])
        except (OSError, ValueError) as problem:
            raise self._away(problem) from problem

    def _state_of_keys(self) -> _State:
        """The present state of the files that hold this home's keys. Empty if it cannot be read, or is a person's."""
        if self.home is None:
            return ()
        state = []
        for name in _KEY_FILES:
            try:
                file = (self.home / name).stat()
            except FileNotFoundError:
                continue
            except OSError:
                return ()
            state.append((name, file.st_ino, file.st_size, file.st_mtime_ns))
        return tuple(state)

    def _homedir(self) -> tuple[str, ...]:
        return ("--homedir", str(self._path(self.home))) if self.home is not None else ()

    def _path(self, home: Path) -> Path:
        """The path by which gpg and its agent reach the home. A link leads to a home whose own path is too long."""
        if len(os.fsencode(home.absolute())) <= _SOCKET_PATH_MAX:
            return home
        link, real = _link_of(home), home.resolve()
        try:
            with suppress(FileExistsError):
                link.symlink_to(real, target_is_directory=True)
            ours = link.lstat().st_uid == os.getuid() and link.readlink() == real
        except OSError as problem:
            raise Unavailable(f"no short path to {home} can be made: {problem}", what=self._what) from problem
        if not ours:
            raise Unavailable(f"{link} does not lead to {home}: remove it", what=self._what)
        return link

    def _command(self, *words: str) -> tuple[str, ...]:
        """A gpg command that asks no person and starts no agent."""
        return (self.binary, *self._homedir(), "--no-tty", "--batch", *self._options(agent=False), *words)

    def _run(
        self, command: Sequence[str], given: bytes = b"", *, pass_fds: Sequence[int] = ()
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                list(command), input=given, capture_output=True, timeout=limits.GPG_SECONDS, check=False,
                env=environment(person=self._interactive), pass_fds=pass_fds,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise self._away(problem) from problem

    def _options(self, *, agent: bool) -> list[str]:
        trust = () if self._interactive else ("--trust-model", "always")
        # Public keys need no agent, and an agent would outlive this process.
        return [*_ISOLATED, *trust, *(() if agent else ("--no-autostart",))]

    def _away(self, problem: Exception) -> Unavailable:
        if isinstance(problem, TimeoutError | subprocess.TimeoutExpired):
            who = f"gpg for {self.home}" if self.home is not None else "gpg"
            message = f"{who} did not answer within {limits.GPG_SECONDS} seconds{HANGS}"
            return Unavailable(message, what=self._what).leads_to("cutter doctor")
        why = getattr(problem, "strerror", None) or "it or its home is missing"
        return Unavailable(f"gpg at {self.binary} cannot be run ({why})", what=self._what)


@contextmanager
def _read_end(data: bytes) -> Iterator[int]:
    """The file descriptor of a pipe that holds these bytes.

    The bytes come from people, so they must not reach a disk.
    """
    if len(data) > limits.SIGNATURE_BYTES_MAX:
        raise OSError(f"the signature is {len(data)} bytes, at most {limits.SIGNATURE_BYTES_MAX} are read")
    number, end = os.pipe()
    try:
        with os.fdopen(end, "wb") as pipe:
            pipe.write(data)
        yield number
    finally:
        os.close(number)


class _Library(gnupg.GPG):  # type: ignore[misc]
    """python-gnupg with a time limit: each call ends within `seconds`."""

    def __init__(self, seconds: float, **given: Any) -> None:
        self._seconds = seconds
        super().__init__(**given)

    def _collect_output(self, process: Any, *given: Any, **more: Any) -> Any:
        watchdog = threading.Timer(self._seconds, process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            answer = super()._collect_output(process, *given, **more)
        finally:
            watchdog.cancel()
        if process.returncode == -signal.SIGKILL:
            raise TimeoutError
        return answer


def _failed(what: str, answer: Any) -> Unavailable:
    output = str(answer.stderr).strip().split("\n")
    line = next((line for line in reversed(output) if not line.startswith(STATUS)), "") or "no reason given"
    # The reason that gpg's last line hides, and what a person can do about it.
    remedy = ""
    expired = [int(words[1]) for words in status_words(output) if words[0] == "KEYEXPIRED" and words[1].isdigit()]
    if "Inappropriate ioctl" in line or "No pinentry" in line:
        terminal = "type `export GPG_TTY=$(tty)` there, then the command again"
        remedy = f": gpg asks for the passphrase in a terminal; {terminal}"
    elif expired and "Unusable secret key" in line:
        day = datetime.fromtimestamp(max(expired), UTC).date()
        remedy = f": the signing key expired on {day}; docs/guides/keys.md says how to extend an approver's key"
    return Unavailable(f"gpg could not {what}: {line}{remedy}", what="gpg")


def find_binary() -> str:
    """Absolute path of gpg on PATH; Unavailable says how to get it."""
    path = shutil.which("gpg")
    if path is None:
        raise Unavailable(
            "gpg is not installed; install GnuPG 2.2 or newer (Debian: apt-get install gnupg)", what="gpg"
        )
    return os.path.abspath(path)


def new_folder() -> Path:
    """Make a temporary folder (mode 0700) whose path is short enough for an agent's socket."""
    return Path(tempfile.mkdtemp(prefix="cg-", dir=_short_place()))


def remove_with(owner: object, made: Path) -> None:
    """Remove the folder after its owner is deleted, or at the latest in `remove_folders`."""
    _FOLDERS[:] = [folder for folder in _FOLDERS if folder.alive]
    _FOLDERS.append(weakref.finalize(owner, shutil.rmtree, made, ignore_errors=True))


def remove_folders() -> None:
    """Remove all remaining temporary folders. A process calls this after its last use of gpg."""
    for folder in _FOLDERS:
        folder()


def environment(*, person: bool = False) -> dict[str, str]:
    """The environment for gpg: without passwords and without our locale.

    It has an agent and a terminal only for a person's own gpg.
    """
    if person:
        return {**os.environ, "LC_ALL": "C"}
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "HOME": tempfile.gettempdir()}


def _link_of(home: Path) -> Path:
    """The short link to a home.

    Its name depends only on the account and the home. An agent outlives the process that started it, and looks for
    private keys below the path that this process gave. So no process removes the link while the home is in use.
    """
    digest = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()
    return _short_place() / f"cg-{os.getuid()}-{digest[:12]}"


def _short_place() -> Path:
    """The folder of temporary files, or /tmp if the path of that folder leaves no room for a socket's path."""
    place = Path(tempfile.gettempdir())
    return place if len(os.fsencode(place)) <= _SOCKET_PATH_MAX - _LINK_NAME_MAX else Path("/tmp")


def _full(fingerprint: str) -> str:
    # A short id or a name could mean another key; gpg takes 40 or 64 hex characters as exactly one.
    if not FINGERPRINT.fullmatch(fingerprint):
        raise InvalidInput(f"{fingerprint!r} is not a full fingerprint of 40 upper-case hex characters")
    return fingerprint
