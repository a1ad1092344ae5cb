public import CarpoolSystem

/// A file that is written in the background: appended bytes are buffered, and jobs of a queue write them in order, one
/// at a time.
///
/// Many small pieces cost one write(2). The bytes that wait to be written are bounded: ``isFull`` reports when
/// the transfer has to wait, and ``onRoom`` when it may continue.
public final class FileWriter {
    /// The bytes that one job writes. The loop takes the array back, so that it is reused without a copy.
    ///
    /// `@unchecked Sendable` because one thread at a time uses it: the loop, then the job, then the loop.
    private final class Piece: @unchecked Sendable {
        var bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func take() -> [UInt8] {
            let taken = bytes
            bytes = []
            return taken
        }
    }

    /// The result of a write, and the size of the file.
    private struct Written: Sendable {
        let piece: Piece
        let count: Int
        let end: Int64
        let checksum: UInt32?
        let error: SystemError?
    }

    /// A job that waits.
    private struct WaitingJob {
        /// Starts it with these bytes to write first; `false` if it was refused.
        let start: ([UInt8]) -> Bool
        /// Reports that it will never run.
        let drop: () -> Void
    }

    /// Called after bytes were written, with their number and the size of the file.
    public var onWritten: (Int, Int64) -> Void = { _, _ in }
    /// Called when there is room again after ``isFull`` was true.
    public var onRoom: () -> Void = {}
    /// Called once when the file cannot be opened or written.
    public var onFailure: (SystemError) -> Void = { _ in }

    /// The checksum of the bytes that are written, if it is a partial file.
    private(set) var checksum: UInt32?
    private let file: BackgroundFile
    private let queue: any BackgroundQueue
    private let store: FileStore
    private var buffered: [UInt8] = []
    private var spare: [UInt8] = []
    private var bytesInFlight = 0
    private var jobs = 0
    /// Jobs that wait until the bytes buffered before them can be written.
    private var waitingJobs: [WaitingJob] = []
    private var idleCompletions: [() -> Void] = []
    private var timer: Timer?
    /// Whether ``onRoom`` is to be called, because ``isFull`` was true.
    private var reportsRoom = false
    /// Whether the last job was requested.
    private(set) var isClosed = false
    private var hasFailed = false

    /// The size of one write; a larger write gains nothing.
    private static let pieceBytes = 262_144
    /// How long fewer bytes are buffered before they are written.
    private static let bufferMilliseconds = 10
    /// The delay after which a job is retried that the worker has refused.
    private static let retryMilliseconds = 100

    /// Makes a writer. The first job opens the file.
    /// - Parameter isHashed: whether the SHA-256 of the bytes is computed.
    public init(
        _ store: FileStore, share: WorkerShare, isHashed: Bool = false, opening: @escaping BackgroundFile.Opening
    ) {
        self.store = store
        queue = store.work.makeQueue(for: share)
        file = BackgroundFile(opening)
        if isHashed { file.hash = SHA256Hash() }
    }

    deinit {
        if let timer { store.scheduler.cancel(timer) }
        store.memory.change(by: -(buffered.count + bytesInFlight))
        dropWaitingJobs()
        guard !isClosed else { return }
        queue.runLast({ [file] in file.close() }, then: {})
    }

    /// Whether the transfer has to wait until bytes are written; ``onRoom`` follows if so.
    public var isFull: Bool {
        guard buffered.count + bytesInFlight >= store.memory.limit else { return false }
        reportsRoom = true
        return true
    }

    /// Whether nothing is buffered, and no job runs or waits.
    public var isIdle: Bool { jobs == 0 && buffered.isEmpty && waitingJobs.isEmpty }

    // MARK: Writing

    /// Appends bytes. After a failure they are dropped.
    public func append(_ bytes: UnsafeRawBufferPointer) {
        guard !isClosed, !hasFailed, !bytes.isEmpty else { return }
        buffered.append(contentsOf: bytes)
        store.memory.change(by: bytes.count)
        if buffered.count >= FileWriter.pieceBytes { startNext() } else { arm(FileWriter.bufferMilliseconds) }
    }

    private func arm(_ milliseconds: Int) {
        let timer = timer ?? Timer { [unowned self] in startNext() }
        self.timer = timer
        if !timer.isArmed { store.scheduler.arm(timer, afterMilliseconds: milliseconds) }
    }

    /// Starts the jobs that wait; the first of them writes what was buffered before.
    private func startNext() {
        guard !isClosed, bytesInFlight == 0 else { return }
        if waitingJobs.isEmpty, !buffered.isEmpty {
            waitingJobs.append(WaitingJob(start: { [unowned self] in start(writing: $0, { _ in }) { _ in } }, drop: {}))
        }
        while !waitingJobs.isEmpty {
            let waitingJob = waitingJobs.removeFirst()
            let bytes = takeBuffered()
            guard !waitingJob.start(bytes) else { continue }
            waitingJobs.insert(waitingJob, at: 0)
            if !bytes.isEmpty {
                buffered = bytes
                bytesInFlight = 0
            }
            return arm(FileWriter.retryMilliseconds)
        }
    }

    /// Takes the bytes to write now: none while others are being written.
    private func takeBuffered() -> [UInt8] {
        guard bytesInFlight == 0, !buffered.isEmpty else { return [] }
        let bytes = buffered
        buffered = spare
        spare = []
        buffered.removeAll(keepingCapacity: true)
        bytesInFlight = bytes.count
        return bytes
    }

    private func didWrite(_ written: Written) {
        if !written.piece.bytes.isEmpty {
            store.memory.change(by: -bytesInFlight)
            bytesInFlight = 0
            spare = written.piece.take()
        }
        checksum = written.checksum
        if written.count > 0 { onWritten(written.count, written.end) }
        if let error = written.error { fail(error) }
        if buffered.count >= FileWriter.pieceBytes || !waitingJobs.isEmpty {
            startNext()
        } else if !buffered.isEmpty {
            arm(FileWriter.bufferMilliseconds)
        }
        guard reportsRoom, buffered.count + bytesInFlight <= store.memory.limit / 2 else { return }
        reportsRoom = false
        onRoom()
    }

    private func fail(_ error: SystemError) {
        guard !hasFailed else { return }
        hasFailed = true
        dropBuffered()
        onFailure(error)
    }

    private func dropBuffered() {
        store.memory.change(by: -buffered.count)
        buffered = []
    }

    private func dropWaitingJobs() {
        let waiting = waitingJobs
        waitingJobs = []
        for waitingJob in waiting { waitingJob.drop() }
    }

    // MARK: Jobs

    /// Opens the file before anything is written. `then` is called if that succeeds.
    public func open(then: @escaping () -> Void) {
        perform({ $0.open() == nil }, then: { if $0 == true { then() } })
    }

    /// Runs a job on the file after everything that was appended before it is written. ``BackgroundFile/failure`` shows
    /// the job whether that has succeeded. `then` gets `nil` if ``close(_:)`` comes first.
    public func perform<Value: Sendable>(
        _ job: @escaping @Sendable (BackgroundFile) -> Value, then: @escaping (Value?) -> Void
    ) {
        guard !isClosed else { return then(nil) }
        let waitingJob = WaitingJob(
            start: { [unowned self] in start(writing: $0, job) { then($0) } }, drop: { then(nil) })
        waitingJobs.append(waitingJob)
        startNext()
    }

    /// Runs a job like ``perform(_:then:)``, and closes the file after it.
    public func performLast<Value: Sendable>(
        _ job: @escaping @Sendable (BackgroundFile) -> Value, then: @escaping (Value?) -> Void
    ) {
        let last: @Sendable (BackgroundFile) -> Value = { file in
            defer { file.close() }
            return job(file)
        }
        perform(last) { [self] value in
            isClosed = true
            then(value)
        }
    }

    /// Runs the last job, which closes the file. Buffered bytes that were not handed over are dropped.
    public func close(_ job: @escaping @Sendable (BackgroundFile) -> Void = { _ in }) {
        guard !isClosed else { return }
        isClosed = true
        dropBuffered()
        dropWaitingJobs()
        jobs += 1
        let last: @Sendable () -> Void = { [file] in
            job(file)
            file.close()
        }
        queue.runLast(last, then: { [self] in didFinishJob() })
    }

    /// Calls the body when no job runs or waits: now, if that is so.
    func whenIdle(_ body: @escaping () -> Void) {
        if isIdle { body() } else { idleCompletions.append(body) }
    }

    private func start<Value: Sendable>(
        writing bytes: [UInt8], _ job: @escaping @Sendable (BackgroundFile) -> Value, _ then: @escaping (Value) -> Void
    ) -> Bool {
        let piece = Piece(bytes)
        let work: @Sendable () -> (Written, Value) = { [file] in
            let before = file.end
            if !piece.bytes.isEmpty { file.write(piece.bytes) }
            let (end, checksum) = (file.end, file.record?.checksum)
            let value = job(file)
            let written = Written(
                piece: piece, count: Int(end - before), end: end, checksum: checksum, error: file.failure)
            return (written, value)
        }
        jobs += 1
        do throws(WorkerError) {
            try queue.run(work) { [weak self] written, value in
                self?.didWrite(written)
                then(value)
                self?.didFinishJob()
            }
            return true
        } catch {
            jobs -= 1
            return false
        }
    }

    private func didFinishJob() {
        jobs -= 1
        guard isIdle, !idleCompletions.isEmpty else { return }
        let waiting = idleCompletions
        idleCompletions = []
        for completion in waiting { completion() }
    }
}
