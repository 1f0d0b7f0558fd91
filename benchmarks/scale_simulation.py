"""Pure: a discrete-event simulation of batches on several hosts: lanes, slots, connections, processors and people.

Times are milliseconds. A document takes the measured steps in their order. Each step needs a slot of a worker, its
processor time, PostgreSQL's processor time and a rest in which nothing computes, such as a write to the disk. Between
two steps, the engine and the workflow take their turn.

A resource counts as used while the document that holds it is served. While that document waits for another resource,
the other resource is the one that is short. So the resource with the highest utilisation is the first bottleneck.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any, Literal

import simpy
from simpy.resources.resource import Request

from cutter import limits

QUANTUM_MS = 20.0
"""The processor time after which another computation gets its turn."""
SLOTS = 8
"""Activities that a worker runs at once, as in worker.py."""
POOL = 4
"""Connections of a worker's pool for one database role, as in cutter/storage/pools.py."""
SEATS = 4
"""Transactions that wait for the write lane at once, as in fn_lane_take."""
LANE_PATIENCE_MS = 1000.0
"""The time that a transaction waits for the write lane, as in fn_lane_take."""
BACKUP_SHARED_MS = limits.BACKUP_MAX_AGE_MINUTES * 60_000 * 0.5
"""The time for which the documents of a batch share a backup, as in shared_backup."""
GOLDEN = 0.618033988749895
"""Multiples of it, without their whole part, spread evenly. The pauses before the write lane take them as chance."""

WORKER_ROLES = ("cutter", "exec", "verify")

Happening = Generator[simpy.Event, Any, float]
"""A part of the simulation. Its result is the time that it waited for a resource."""

Turn = tuple[Request, float]
"""A request that was granted, and the time that it waited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a document. `python` is processor time of the worker's process, `programs` that of programs which the
    worker starts, `postgres` that of PostgreSQL, and `rest` the time without any of them. `inside` is the share of the
    step in which it holds a connection and, if it has one, its `lane`.
    """

    name: str
    worker: str = "cutter"
    python: float = 0.0
    programs: float = 0.0
    postgres: float = 0.0
    rest: float = 0.0
    inside: float = 0.0
    lane: Literal["", "write", "enact"] = ""

    @property
    def service(self) -> float:
        """The time of the step if it never waits."""
        return self.python + self.programs + self.postgres + self.rest

    def part(self, share: float) -> Step:
        """The step with only this share of its work."""
        return replace(
            self, python=self.python * share, programs=self.programs * share, postgres=self.postgres * share,
            rest=self.rest * share,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a document needs. `plan`, `write` and `enact` are its steps between the two approvals. A document that finds
    no backup of its batch makes `new_backup` instead of the step `IG_backup`.

    `turn` is what lies between two steps. `engine` and `background` are processor time of Temporal and of PostgreSQL
    for each step that nobody waits for. `judge` is one document in a set of approvals. A look of a batch costs `look`
    and, for each document that it reads, `look_item` of PostgreSQL. `sign` is the machine's part of a signature.
    """

    plan: tuple[Step, ...]
    write: tuple[Step, ...]
    enact: tuple[Step, ...]
    new_backup: Step
    turn_python: float = 0.0
    turn_temporal: float = 0.0
    turn_rest: float = 0.0
    engine: float = 0.0
    background: float = 0.0
    judge: Step = field(default_factory=lambda: Step(name="judge_set"))
    look: float = 0.0
    look_item: float = 0.0
    sign: float = 0.0

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps in their order."""
        return (*self.plan, *self.write, *self.enact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Hosts with `cores` processor cores each, and which hosts each part runs on. A host number stands once for each
    process: `cutter=(1, 1)` is two cutter workers on host 1. PostgreSQL is one server. If its host has another number
    of cores, `postgres_cores` says so.
    """

    cores: int = 2
    postgres_cores: int | None = None
    postgres: int = 0
    temporal: tuple[int, ...] = (0,)
    cutter: tuple[int, ...] = (0,)
    exec: tuple[int, ...] = (0,)
    verify: tuple[int, ...] = (0,)

    def workers(self, role: str) -> tuple[int, ...]:
        """The host of each worker of a role."""
        return {"cutter": self.cutter, "exec": self.exec, "verify": self.verify}[role]

    def cores_of(self, host: int) -> int:
        """The processor cores of a host."""
        return self.postgres_cores or self.cores if host == self.postgres else self.cores

    @property
    def hosts(self) -> tuple[int, ...]:
        """The numbers of all hosts."""
        return tuple(sorted({self.postgres, *self.temporal, *self.cutter, *self.exec, *self.verify}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Batches that begin at the same time and share `documents`. If `people` is 0, all approvals were signed before.
    Otherwise people sign for each gate as soon as all open documents of a batch ask, and hand over the set. A person
    needs `reading` for each document. After `window` no further document begins.
    """

    documents: int
    batches: int = 1
    lanes: int = limits.BATCH_LANES
    people: int = 0
    reading: float = 0.0
    hand_over: float = 0.0
    window: float = float("inf")
    listed: int | None = None
    """Documents of a batch for the cost of a whole look, if only a part of the batch is simulated."""


@dataclass(slots=True)
class Use:
    """What a resource did: the time for which it served, how many can be served at once, and the time that documents
    waited for it.
    """

    capacity: int
    served: float = 0.0
    waited: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """`settled` documents of those that were `started`, in so many milliseconds. `utilisation` and `waits`, a
    document's milliseconds, are by resource. `busy_lanes` counts the tries that found the write lane busy.
    """

    started: int
    settled: int
    elapsed: float
    utilisation: Mapping[str, float]
    waits: Mapping[str, float]
    phases: Mapping[str, float]
    busy_lanes: int

    @property
    def per_minute(self) -> float:
        """Documents a minute."""
        return self.settled / self.elapsed * 60_000 if self.elapsed else 0.0

    @property
    def bottleneck(self) -> str:
        """The resource with the highest utilisation."""
        return max(self.utilisation, key=lambda name: (self.utilisation[name], name))


class _Metered:
    """A resource of which every use is counted under a name. Several resources may share a name."""

    def __init__(self, env: simpy.Environment, use: Use, capacity: int) -> None:
        self.env, self.use = env, use
        self.resource = simpy.Resource(env, capacity)
        use.capacity += capacity

    def free(self) -> bool:
        return self.resource.count < self.resource.capacity

    def asked(self) -> int:
        """The number of those that use the resource or wait for it."""
        return self.resource.count + len(self.resource.queue)

    def take(self, patience: float = float("inf")) -> Generator[simpy.Event, Any, Turn | None]:
        """Wait for the resource. The answer is the request and the time that was waited, or None without success."""
        asked, request = self.env.now, self.resource.request()
        if patience == float("inf"):
            yield request
        else:
            yield request | self.env.timeout(patience)
            if not request.triggered:
                request.cancel()
                self.use.waited += self.env.now - asked
                return None
        self.use.waited += self.env.now - asked
        return request, self.env.now - asked

    def give_back(self, request: Request, since: float, waited: float) -> None:
        """End a use that began at `since` and in which the holder waited for other resources."""
        self.resource.release(request)
        self.use.served += self.env.now - since - waited


class _Batch:
    """A batch while it runs."""

    def __init__(self, env: simpy.Environment, size: int, place: int) -> None:
        self.place, self.pending, self.size = place, size, size
        self.planning = self.open = self.settled = 0
        self.news: simpy.Event = env.event()
        self.backup = simpy.Resource(env, 1)
        self.backup_at = float("-inf")
        self.changes, self.whole_look_at = 0, 0.0
        self.asking: dict[str, list[simpy.Event]] = {"write": [], "enact": []}

    def tell(self) -> None:
        """Report a change to the batch's workflow."""
        if not self.news.triggered:
            self.news.succeed()


class _World:
    """The state of one simulation."""

    def __init__(self, costs: Costs, deployment: Deployment, load: Load) -> None:
        self.env = simpy.Environment()
        self.costs, self.deployment, self.load = costs, deployment, load
        self.uses: dict[str, Use] = defaultdict(lambda: Use(capacity=0))
        self.processors = {host: self._resource(f"processor of {self._of(host)}", deployment.cores_of(host))
                           for host in deployment.hosts}  # fmt: skip
        self.processes = {(role, n): self._resource(f"{role} worker's process", 1) for role, n in self._each()}
        self.pools = {(role, n): self._resource(f"connections of the {role} worker", POOL) for role, n in self._each()}
        self.slots = {(role, n): self._resource(f"slots of the {role} worker", SLOTS) for role, n in self._each()}
        self.lanes = {name: self._resource(f"{name} lane", 1) for name in ("write", "enact")}
        self.seats = simpy.Resource(self.env, SEATS)
        self.people = self._resource("people", load.people) if load.people else None
        self.uses["planning lanes"] = Use(capacity=load.lanes * load.batches)
        self.turns = {role: cycle(range(len(deployment.workers(role)))) for role in WORKER_ROLES}
        self.nodes = cycle(deployment.temporal)
        self.started = self.settled = self.busy = 0
        self.chance = 0.5
        self.ended: dict[str, float] = {}
        self.began: dict[str, float] = {"plan": 0.0}

    def _each(self) -> Iterable[tuple[str, int]]:
        return ((role, n) for role in WORKER_ROLES for n in range(len(self.deployment.workers(role))))

    def _of(self, host: int) -> str:
        """What a host is for. Hosts for the same parts count together."""
        parts = ["PostgreSQL"] * (host == self.deployment.postgres) + ["Temporal"] * (host in self.deployment.temporal)
        parts += [role for role in WORKER_ROLES if host in self.deployment.workers(role)]
        return "everything" if len(parts) == 5 else " and ".join(parts)

    def _resource(self, name: str, capacity: int) -> _Metered:
        return _Metered(self.env, self.uses[name], capacity)

    # --- work -----------------------------------------------------------------------------------------------------

    def compute(self, host: int, ms: float, process: _Metered | None = None) -> Happening:
        """Use a core of a host, one quantum after the other. A worker's process computes only once at a time."""
        waited = 0.0
        while ms > 1e-9:
            part = min(ms, QUANTUM_MS)
            ms -= part
            if process is not None:
                mine, own = yield from process.take()  # type: ignore[misc]
                waited, since = waited + own, self.env.now
            core, queued = yield from self.processors[host].take()  # type: ignore[misc]
            waited, at = waited + queued, self.env.now
            yield self.env.timeout(part)
            self.processors[host].give_back(core, at, 0.0)
            if process is not None:
                process.give_back(mine, since, queued)
        return waited

    def work(self, role: str, number: int, step: Step) -> Happening:
        """The work of a step on one worker."""
        host = self.deployment.workers(role)[number]
        waited = yield from self.compute(host, step.python, self.processes[role, number])
        waited += yield from self.compute(host, step.programs)
        waited += yield from self.compute(self.deployment.postgres, step.postgres)
        if step.rest:
            yield self.env.timeout(step.rest)
        return waited

    def unattended(self, host: int, ms: float) -> None:
        """Work that nobody waits for."""
        if ms:
            self.env.process(self.compute(host, ms))

    def turn(self, cutter: int, node: int) -> Happening:
        """Temporal and the workflow decide what comes next."""
        costs, host = self.costs, self.deployment.cutter[cutter]
        waited = yield from self.compute(node, costs.turn_temporal)
        waited += yield from self.compute(host, costs.turn_python, self.processes["cutter", cutter])
        if costs.turn_rest:
            yield self.env.timeout(costs.turn_rest)
        self.unattended(node, costs.engine)
        self.unattended(self.deployment.postgres, costs.background)
        return waited

    def step(self, step: Step, batch: _Batch, cutter: int, node: int) -> Happening:
        """One step, and the turn after it. If the write lane is busy, the step is tried again after a pause."""
        waited = 0.0
        while True:
            number = self._worker(step.worker)
            slot = self.slots[step.worker, number]
            mine, own = yield from slot.take()  # type: ignore[misc]
            since, used = self.env.now, 0.0
            outside = yield from self._backup(batch, number) if step.name == "IG_backup" else self._nothing()
            outside += yield from self.work(step.worker, number, step.part(1 - step.inside))
            inside = yield from self._inside(step, number)
            used = outside + (inside or 0.0)
            slot.give_back(mine, since, used if inside is not None else self.env.now - since)
            waited += own + used
            waited += yield from self.turn(cutter, node)
            if inside is not None:
                batch.changes += 1
                return waited
            self.busy += 1
            self.chance = (self.chance + GOLDEN) % 1
            pause = limits.LANE_WAIT_SECONDS * 1000 * (0.2 + 0.8 * self.chance)
            yield self.env.timeout(pause)
            waited += pause

    def _worker(self, role: str) -> int:
        """The worker of a role that has the most free slots; of equal ones, the next in turn."""
        count, first = len(self.deployment.workers(role)), next(self.turns[role])
        order = [(first + place) % count for place in range(count)]
        return min(order, key=lambda number: self.slots[role, number].asked())

    def _nothing(self) -> Happening:
        yield from ()
        return 0.0

    def _backup(self, batch: _Batch, number: int) -> Happening:
        """Take the backup that the documents of this batch share, or wait for it."""
        asked = self.env.now
        with batch.backup.request() as alone:
            yield alone
            waited = self.env.now - asked
            if self.env.now - batch.backup_at > BACKUP_SHARED_MS:
                waited += yield from self.work("cutter", number, self.costs.new_backup)
                batch.backup_at = self.env.now
        return waited

    def _inside(self, step: Step, number: int) -> Generator[simpy.Event, Any, float | None]:
        """The transaction of a step. None if the write lane was busy."""
        part = step.part(step.inside)
        if not step.inside:
            return 0.0
        pool = self.pools[step.worker, number]
        mine, waited = yield from pool.take()  # type: ignore[misc]
        since, held = self.env.now, 0.0
        lane = self.lanes.get(step.lane)
        taken = None
        if lane is not None:
            taken = yield from self._lane(step.lane, lane)
            if taken is None:
                pool.give_back(mine, since, self.env.now - since)
                return None
            held += taken[1]
        at = self.env.now
        inner = yield from self.work(step.worker, number, part)
        if lane is not None and taken is not None:
            lane.give_back(taken[0], at, inner)
        pool.give_back(mine, since, held + inner)
        return waited + held + inner

    def _lane(self, name: str, lane: _Metered) -> Generator[simpy.Event, Any, tuple[Any, float] | None]:
        if name == "enact" or lane.free():
            return (yield from lane.take())
        if self.seats.count == SEATS:
            return None
        with self.seats.request() as seat:
            yield seat
            return (yield from lane.take(LANE_PATIENCE_MS))

    # --- a document and its batch ---------------------------------------------------------------------------------

    def document(self, batch: _Batch) -> Generator[simpy.Event, Any, None]:
        """A document from its start to its end."""
        cutter, node = next(self.turns["cutter"]), next(self.nodes)
        began, waited = self.env.now, 0.0
        waited += yield from self.turn(cutter, node)
        for step in self.costs.plan:
            waited += yield from self.step(step, batch, cutter, node)
        self._reached("plan")
        self.uses["planning lanes"].served += self.env.now - began - waited
        batch.planning -= 1
        batch.tell()
        for phase, steps in (("write", self.costs.write), ("enact", self.costs.enact)):
            if self.people is not None:
                signed = self.env.event()
                batch.asking[phase].append(signed)
                batch.tell()
                yield signed
                yield from self.turn(cutter, node)
            for step in steps:
                yield from self.step(step, batch, cutter, node)
            self._reached(phase)
        batch.open -= 1
        batch.settled += 1
        self.settled += 1
        batch.tell()

    def _reached(self, phase: str) -> None:
        self.ended[phase] = self.env.now

    def steering(self, batch: _Batch) -> Generator[simpy.Event, Any, None]:
        """The batch's workflow: it looks, starts documents for free lanes, and waits for a change."""
        place, node = batch.place % len(self.deployment.cutter), next(self.nodes)
        while batch.settled < batch.size:
            batch.news = self.env.event()
            yield from self.work("cutter", place, self._look(batch))
            if self.env.now > self.load.window and batch.pending:
                batch.size -= batch.pending
                batch.pending = 0
                continue
            free = min(self.load.lanes - batch.planning, limits.BATCH_WINDOW - batch.open, batch.pending)
            if free > 0:
                yield from self.turn(place, node)
                for _ in range(free):
                    batch.pending, batch.planning, batch.open = batch.pending - 1, batch.planning + 1, batch.open + 1
                    self.started += 1
                    self.env.process(self.document(batch))
                continue
            self._ask_people(batch)
            if batch.settled < batch.size:
                yield batch.news | self.env.timeout(limits.STEER_POLL_SECONDS * 1000)
                yield self.env.timeout(limits.STEER_PAUSE_SECONDS * 1000)

    def _look(self, batch: _Batch) -> Step:
        """A look at the documents of the steps that ended since the look before, or now and then at all."""
        whole = self.load.listed or batch.size
        read, batch.changes = min(batch.changes, whole), 0
        if self.env.now >= batch.whole_look_at:
            read, taken = whole, self.costs.look_item * whole
            pause = max(limits.STEER_POLL_SECONDS * 1000, limits.WHOLE_LOOK_SHARE * taken)
            batch.whole_look_at = self.env.now + pause
        return Step(name="look", python=self.costs.look / 2,
                    postgres=self.costs.look / 2 + self.costs.look_item * read)  # fmt: skip

    def _ask_people(self, batch: _Batch) -> None:
        """Let people sign as soon as every open document of the batch asks at the same gate."""
        for phase, asking in batch.asking.items():
            if self.people is not None and asking and len(asking) == batch.open and not batch.planning:
                batch.asking[phase] = []
                self.env.process(self._session(batch, phase, asking))

    def _session(self, batch: _Batch, phase: str, asking: list[simpy.Event]) -> Generator[simpy.Event, Any, None]:
        """A signing session: people sign every document, then the whole set is judged and handed over."""
        yield self.env.timeout(self.load.hand_over)
        yield self.env.all_of([self.env.process(self._sign()) for _ in asking])
        place = batch.place % len(self.deployment.cutter)
        for _ in asking:
            yield from self.work("cutter", place, self.costs.judge)
        yield from self.turn(place, self.deployment.temporal[0])
        self.began.setdefault(phase, self.env.now)
        for signed in asking:
            signed.succeed()

    def _sign(self) -> Generator[simpy.Event, Any, None]:
        assert self.people is not None
        mine, _ = yield from self.people.take()  # type: ignore[misc]
        since = self.env.now
        yield self.env.timeout(self.load.reading + self.costs.sign)
        self.people.give_back(mine, since, 0.0)


def simulate(costs: Costs, deployment: Deployment, load: Load) -> Result:
    """Run the batches to their end."""
    world = _World(costs, deployment, load)
    share, rest = divmod(load.documents, load.batches)
    batches = [_Batch(world.env, share + (n < rest), n) for n in range(load.batches)]
    running = [world.env.process(world.steering(batch)) for batch in batches if batch.size]
    if running:
        world.env.run(until=world.env.all_of(running))
    elapsed = world.env.now
    utilisation = {
        name: use.served / (use.capacity * elapsed) if use.capacity and elapsed else 0.0
        for name, use in world.uses.items()
    }
    waits = {name: use.waited / max(world.settled, 1) for name, use in world.uses.items()}
    phases = {name: world.ended[name] - world.began.get(name, 0.0) for name in world.ended}
    return Result(
        started=world.started, settled=world.settled, elapsed=elapsed, utilisation=utilisation, waits=waits,
        phases=phases, busy_lanes=world.busy,
    )  # fmt: skip
