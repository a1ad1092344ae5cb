internal import CLinux
internal import Glibc

/// Receives the readiness of a descriptor.
public protocol ReadinessHandler: AnyObject {
    /// The descriptor is ready. It is called on the loop, also once for an idle descriptor at which something happened.
    func descriptorIsReady(_ fd: Int32, _ readiness: Readiness)
}

/// Is called when all events of a turn are handled, for work such as sending pending output.
public protocol TurnObserver: AnyObject {
    /// The turn ends; called once for each ``EventLoop/afterTurn(_:)``.
    func turnDidEnd()
}

/// One epoll set, its timers and its inbox. Everything that its users own is touched inside ``run()`` only, by one
/// thread.
///
/// `@unchecked Sendable` because the inbox, a list without a lock, and the immutable fields are all that other threads
/// reach; every other member asserts, in debug builds, that it is called on the loop's own thread.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private var epoll: EpollSet
    private let wake: Int32
    private let inbox = PostList()
    private let owner = pthread_self()
    private let wakeHandler = WakeHandler()

    private var table = InterestTable()
    private var timers = Timers()
    private var observers: [any TurnObserver] = []
    private var spareObservers: [any TurnObserver] = []
    private var lastObserver: (any TurnObserver)?
    private var posts = PostQueue()
    private var slicedWork = WorkQueue()
    private var processorWait = ProcessorWait()
    private var turnEnded = MonotonicTime.read()
    private var isStopping = false
    private lazy var registration = Timer { [unowned self] in registerRefused() }
    private var shortages = 0
    /// The number of shortages when a handler was last called.
    private var seenShortages = 0
    /// The `errno` with which the kernel refuses to watch the descriptor that is reported as ``Readiness/unwatched``.
    public private(set) var refusalCode: Int32 = 0
    /// Called at the end of a turn in or before which a call failed for a ``Shortage``, of any thread.
    public var onShortage: () -> Void = {}

    /// The time at which the present turn began: one clock reading for all that happens in it.
    public private(set) var now = MonotonicTime.read()
    /// The lengths of the turns: how long a client may have waited for another's work.
    public private(set) var gauge = TurnGauge()
    /// The number of turns since the start.
    public private(set) var turns = 0

    /// Maximum number of events that one turn takes from the kernel; more wait for the next turn, so that timers stay
    /// punctual.
    private static let eventsPerTurn = 256
    /// Maximum number of calls of observers before the sockets are polled again.
    private static let roundsPerTurn = 4

    /// Makes a loop for the calling thread; ``run()`` must be called on that thread.
    public init() throws(SystemError) {
        epoll = try EpollSet()
        wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wake >= 0 else {
            let error = SystemError.last("eventfd")
            epoll.close()
            throw error
        }
        setInterest(.readable, for: wake, handler: wakeHandler)
    }

    deinit {
        processorWait.close()
        close(wake)
        epoll.close()
    }

    // MARK: Descriptors

    /// Sets the interest in a descriptor; an empty interest keeps the registration until the kernel reports an
    /// unwanted event.
    public func setInterest(_ interest: Interest, for fd: Int32, handler: any ReadinessHandler) {
        assertOnLoop()
        guard let change = table.want(interest, fd: Int(fd), handler: handler) else { return }
        applyChange(change, fd)
    }

    /// Forgets a descriptor. Call it before closing the descriptor, whose number will be reused.
    public func forget(_ fd: Int32) {
        assertOnLoop()
        applyChange(table.forget(fd: Int(fd)), fd)
        if epoll.hasRefused { epoll.forget(fd) }
    }

    private func applyChange(_ change: InterestChange, _ fd: Int32) {
        guard change != .none, !epoll.apply(change, fd, generation: table.generation(fd: Int(fd))) else { return }
        table.registrationWasRefused(fd: Int(fd))
        registerLater()
    }

    private func registerLater() {
        if !registration.isArmed { arm(registration, afterMilliseconds: EpollSet.retryMilliseconds) }
    }

    /// Tries again what the kernel has refused to register.
    private func registerRefused() {
        for fd in epoll.refusedDescriptors {
            guard let change = table.registration(fd: Int(fd)) else { epoll.forget(fd); continue }
            applyChange(change, fd)
            guard let code = epoll.lastingRefusal(of: fd) else { continue }
            refusalCode = code
            table.handler(fd: Int(fd))?.descriptorIsReady(fd, .unwatched)
        }
    }

    /// Does not look at a descriptor for a while: its handler has met a shortage, and would meet it in each turn.
    private func suspend(_ fd: Int32) {
        epoll.suspend(fd)
        table.registrationWasRefused(fd: Int(fd))
        registerLater()
    }

    // MARK: Timers and turns

    /// Arms a timer, or moves it if it is armed already. The action runs once.
    public func arm(_ timer: Timer, at deadline: MonotonicTime) {
        assertOnLoop()
        timers.arm(timer, at: deadline)
    }

    /// Arms a timer this many milliseconds from now; not from the beginning of the turn, which may have taken long
    /// already.
    public func arm(_ timer: Timer, afterMilliseconds milliseconds: Int) {
        arm(timer, at: MonotonicTime.read().advanced(milliseconds: milliseconds))
    }

    /// Disarms a timer; nothing happens if it is not armed.
    public func cancel(_ timer: Timer) {
        assertOnLoop()
        timers.cancel(timer)
    }

    /// Calls the observer when the events of this turn are handled.
    public func afterTurn(_ observer: any TurnObserver) {
        assertOnLoop()
        observers.append(observer)
    }

    /// Calls the observer after those of ``afterTurn(_:)``. A loop has one such observer, which starts new work: what
    /// has ended is reported before.
    public func afterObservers(_ observer: any TurnObserver) {
        assertOnLoop()
        lastObserver = observer
    }

    /// Runs long work in slices, starting with the next turn at the latest, until it has finished. The loop retains
    /// it until then.
    public func runInSlices(_ work: any SlicedWork) {
        assertOnLoop()
        slicedWork.append(work)
    }

    /// Resets the gauge of turns.
    public func resetGauge() {
        assertOnLoop()
        gauge = TurnGauge()
    }

    // MARK: Running

    /// Runs until ``stop()``. Must be called on the thread that made the loop.
    ///
    /// A turn has five phases: events, timers, the inbox, sliced work, observers. Each makes at least one step; what
    /// does not fit its time is continued in the next turn, before anything new.
    public func run() {
        assertOnLoop()
        var events = [epoll_event](repeating: epoll_event(), count: EventLoop.eventsPerTurn)
        var (next, count) = (0, 0)
        while !isStopping {
            if next == count {
                let timeout = Clock.limit(waitMilliseconds())
                count = max(0, Int(epoll_wait(epoll.raw, &events, Int32(events.count), timeout)))
                next = 0
            }
            Clock.beginTurn()
            now = MonotonicTime.read()
            turns += 1
            processorWait.begin(at: now, afterWaiting: now.microseconds(since: turnEnded))
            deliver(events, &next, count)
            runTimers()
            runInbox()
            runSlices()
            endTurn()
            if Shortage.count != shortages { reportShortage() }
            turnEnded = MonotonicTime.read()
            recordTurn(turnEnded.microseconds(since: now))
        }
        // It may be run once more.
        isStopping = false
    }

    private func reportShortage() {
        shortages = Shortage.count
        onShortage()
    }

    /// Shorter turns are recorded unchanged; for longer ones the time without a processor is queried from the kernel.
    private static let longTurnMicroseconds = 2_000
    /// Longer turns are recorded with their time and processor. 99.9 % of the turns are shorter.
    private static let recordedTurnMicroseconds = 20_000

    private func recordTurn(_ wall: Int) {
        guard wall > EventLoop.longTurnMicroseconds else { return gauge.add(wall) }
        let taken = processorWait.taken(since: now, until: turnEnded)
        gauge.add(wall - taken.waited, waited: taken.waited, slept: taken.slept)
        guard wall - taken.waited > EventLoop.recordedTurnMicroseconds else { return }
        let processor = max(0, Int(CLinux_processor()))
        gauge.record(
            TurnGauge.LongTurn(
                end: turnEnded, wall: wall, waited: taken.waited, slept: taken.slept, processor: processor))
    }

    /// Ends ``run()`` when the present turn is over.
    public func stop() {
        assertOnLoop()
        isStopping = true
    }

    private func waitMilliseconds() -> Int32 {
        guard posts.isEmpty, slicedWork.isEmpty, observers.isEmpty, lastObserver == nil else {
            return 0
        }
        guard let next = timers.next else { return -1 }
        let current = MonotonicTime.read().nanoseconds
        guard next.nanoseconds > current else { return 0 }
        // Rounded up: waking early would mean turning once more for nothing.
        return Int32(clamping: (next.nanoseconds - current) / 1_000_000 + 1)
    }

    /// Delivers events from an index on, as many as fit the turn.
    private func deliver(_ events: [epoll_event], _ next: inout Int, _ count: Int) {
        var budget = PhaseBudget()
        seenShortages = Shortage.count
        while next < count {
            deliver(events[next])
            next += 1
            if next < count, budget.isSpent() { return }
        }
    }

    private func deliver(_ event: epoll_event) {
        let fd = Int32(truncatingIfNeeded: event.data.u64)
        let generation = UInt32(truncatingIfNeeded: event.data.u64 >> 32)
        let (handler, change) = table.event(fd: Int(fd), generation: generation)
        applyChange(change, fd)
        guard let handler else { return }
        var readiness: Readiness = []
        if event.events & EPOLLIN.rawValue != 0 { readiness.insert(.readable) }
        if event.events & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { readiness.insert(.failed) }
        handler.descriptorIsReady(fd, readiness)
        let count = Shortage.count
        guard count != seenShortages else { return }
        seenShortages = count
        if table.isRegistered(fd: Int(fd), generation: generation) { suspend(fd) }
    }

    private func runTimers() {
        // Timers that an action arms for this very moment wait for the next turn: a loop of them must not starve the
        // sockets.
        let limit = timers.count
        var budget = PhaseBudget()
        for _ in 0..<limit {
            guard let timer = timers.popExpired(at: now) else { return }
            timer.action()
            if timers.next.map({ $0 <= now }) ?? false, budget.isSpent() { return }
        }
    }

    private func runSlices() {
        guard !slicedWork.isEmpty else { return }
        var budget = PhaseBudget()
        for _ in 0..<slicedWork.count {
            guard let work = slicedWork.popFirst() else { return }
            if work.runSlice() { slicedWork.append(work) }
            if budget.isSpent() { return }
        }
    }

    private func endTurn() {
        // The work of one observer may create work for another in the same turn: a finished response of the transport
        // is a reply that a connection has to send. Two arrays are swapped, so nothing is allocated.
        var budget = PhaseBudget()
        for _ in 0..<EventLoop.roundsPerTurn where !observers.isEmpty || lastObserver != nil {
            let isComplete = callObservers(&budget)
            if let last = lastObserver {
                lastObserver = nil
                last.turnDidEnd()
            }
            if !isComplete { return }
        }
    }

    /// Calls all observers. Returns false if the time was used up before the last of them.
    private func callObservers(_ budget: inout PhaseBudget) -> Bool {
        swap(&observers, &spareObservers)
        var done = 0
        while done < spareObservers.count {
            spareObservers[done].turnDidEnd()
            done += 1
            if done < spareObservers.count, budget.isSpent() {
                keepObservers(from: done)
                return false
            }
        }
        spareObservers.removeAll(keepingCapacity: true)
        return true
    }

    /// Keeps the observers that were not called: they are called first in the next turn.
    private func keepObservers(from done: Int) {
        spareObservers.removeFirst(done)
        spareObservers.append(contentsOf: observers)
        observers.removeAll(keepingCapacity: true)
        swap(&observers, &spareObservers)
    }

    // MARK: The inbox

    /// Runs a block on the loop, from any thread. Blocks of one thread run in the order in which they are posted.
    public func post(_ block: @escaping @Sendable () -> Void) { post(Unmanaged.passRetained(PostedBlock(block))) }

    /// Delivers a retained post on the loop, from any thread. Never waits. Each post wakes the loop: if only the first
    /// of several did, and the kernel stopped its thread before that, the others would wait for it.
    func post(_ post: Unmanaged<Post>) {
        inbox.add(post)
        var one: UInt64 = 1
        // Again if a signal has interrupted it, or the kernel has refused it: the loop would not notice the post.
        for _ in 0..<EventLoop.mostWakes where write(wake, &one, 8) == 8 { return }
    }

    /// How often a wake is tried.
    private static let mostWakes = 3

    /// Runs a job of a task that is isolated to this loop; from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = Unmanaged<Post>.passRetained(PostedTask(UnownedJob(job)))
        if isOnLoop { posts.append(job) } else { post(job) }
    }

    /// Ends the program unless it is called on the loop.
    public func checkIsolated() {
        // The contract of the runtime: return if on the executor, otherwise end the program. It checks the program, not
        // its input.
        guard isOnLoop else { abort() }
    }

    /// Checks, in debug builds, that the caller is on the loop's thread.
    private func assertOnLoop() { assert(isOnLoop, "not on the thread of the event loop") }

    private var isOnLoop: Bool { pthread_equal(owner, pthread_self()) != 0 }

    private func runInbox() {
        posts.takeAll(of: inbox)
        guard !posts.isEmpty else { return }
        // What these add waits for the next turn.
        var budget = PhaseBudget()
        for _ in 0..<posts.count {
            posts.removeFirst()?.takeRetainedValue().deliver(on: self)
            if budget.isSpent() { return }
        }
    }

    /// Runs a job with the loop as the executor of its actor and as the task's preferred executor. Without the second,
    /// each suspension of a task would resume it on one of Swift's own threads.
    fileprivate func execute(_ job: UnownedJob) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
}

/// Empties the eventfd; the inbox itself is read at the end of each turn.
private final class WakeHandler: ReadinessHandler {
    func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        var count: UInt64 = 0
        _ = read(fd, &count, 8)
    }
}

/// A job of a task.
private final class PostedTask: Post, @unchecked Sendable {
    private let job: UnownedJob

    init(_ job: UnownedJob) { self.job = job }

    override func deliver(on loop: EventLoop) { loop.execute(job) }
}
