import CarpoolHTTP
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolCache

/// A folder for disk stores, a loop and a worker. What waits for a result has a deadline.
final class DiskBench {
    /// A wait has ended without its result.
    struct Late: Error {}

    let loop: EventLoop
    let worker: Worker
    let root: String
    private(set) var events: [DiskStoreEvent] = []
    private static let deadlineMilliseconds = 60_000

    /// Makes a bench; the thread of this call runs the loop.
    /// - Parameter root: an existing folder; it is removed at the end.
    init(root: String? = nil) throws {
        loop = try EventLoop()
        worker = Worker(loop: loop)
        self.root = try root ?? DiskBench.makeRoot()
    }

    static func makeRoot() throws -> String {
        var template = Array("/tmp/carpool-disk-XXXXXX".utf8CString)
        return String(cString: try #require(mkdtemp(&template)))
    }

    deinit { DiskBench.remove(root) }

    var folder: String { "\(root)/cache/responses/store" }

    /// A store in the folder that begins to open.
    func opening(maximumBytes: Int = 1 << 30, off: Int = 60_000, folder: String? = nil) -> DiskStore {
        let store = DiskStore(
            folder: folder ?? self.folder, maximumBytes: maximumBytes, loop: loop,
            work: worker.access(for: WorkerShare(user: geteuid(), client: "cache")), offMilliseconds: off
        ) { [weak self] in self?.events.append($0) }
        store.open()
        return store
    }

    /// A store whose opening has ended.
    func opened(maximumBytes: Int = 1 << 30, off: Int = 60_000, folder: String? = nil) throws -> DiskStore {
        let store = opening(maximumBytes: maximumBytes, off: off, folder: folder)
        try waitForOpening(of: store)
        return store
    }

    func waitForOpening(of store: DiskStore) throws {
        try result { then in store.whenOpen { then(()) } }
    }

    /// Runs the loop until a call has passed on its result.
    @discardableResult
    func result<Value>(_ start: (@escaping (Value) -> Void) -> Void) throws -> Value {
        var value: Value?
        var isRunning = false
        start {
            value = $0
            // A stop before the run would end the next one.
            if isRunning { self.loop.stop() }
        }
        isRunning = true
        if value == nil { run() }
        isRunning = false
        guard let value else { throw Late() }
        return value
    }

    /// Commits what was saved.
    func commit(_ store: DiskStore) throws {
        try result { then in store.run({ $0.commit() }, then: { _ in then(()) }) }
    }

    /// Runs the loop until something was so.
    func until(_ condition: @escaping () -> Bool) throws {
        var poll: Timer?
        var isMet = false
        let timer = Timer { [loop] in
            isMet = isMet || condition()
            if isMet { return loop.stop() }
            if let poll { loop.arm(poll, afterMilliseconds: 1) }
        }
        poll = timer
        loop.arm(timer, afterMilliseconds: 0)
        run()
        loop.cancel(timer)
        poll = nil
        guard isMet else { throw Late() }
    }

    private func run() {
        let timer = Timer { [loop] in loop.stop() }
        loop.arm(timer, afterMilliseconds: DiskBench.deadlineMilliseconds)
        loop.run()
        loop.cancel(timer)
    }

    // MARK: Stores

    func save(
        _ entry: CacheEntry, in store: DiskStore, usableUntil: Int64? = nil
    ) throws -> DiskSaved? {
        guard case .memory(let bytes) = entry.body else { return nil }
        return try result { then in
            if !store.save(entry, body: bytes, usableUntil: usableUntil, then: then) { then(nil) }
        }
    }

    /// Whether there is a link to the file of a body.
    func link(_ file: StoredBodyFile, to path: String, in store: DiskStore) throws -> Bool {
        (try? result { store.link(file, to: path, then: $0) }.get()) ?? false
    }

    func load(_ key: CacheKey, from store: DiskStore) throws -> [CacheEntry] {
        try result { store.load(key, then: $0) }
    }

    func purge(_ filter: DiskFilter, in store: DiskStore, isSoft: Bool = false) throws -> Int? {
        try result { store.purge(filter, isSoft: isSoft, then: $0) }
    }

    func close(_ store: DiskStore) throws {
        try result { then in store.close { then(()) } }
    }

    /// The bytes of a body, in pieces.
    func read(_ file: StoredBodyFile, from store: DiskStore) throws -> Result<[UInt8], BodyReadError> {
        let reader = store.reader(of: file)
        var bytes: [UInt8] = []
        while bytes.count < file.length {
            switch try result({ reader.read(from: bytes.count, atMost: 1 << 20, then: $0) }) {
            case .success(let piece): bytes += piece
            case .failure(let error): return .failure(error)
            }
        }
        return .success(bytes)
    }

    // MARK: Entries

    static func key(_ url: String) -> CacheKey { CacheKey(partition: ConnectionPartition(), url: url) }

    static func response(
        _ fields: [String] = ["Content-Type: text/plain"], vary: [CachedResponse.VaryField] = [],
        credentials: [UInt8]? = nil, received: Int64 = 1_000_000, status: Int = 200
    ) -> CachedResponse {
        var block = FieldBlock()
        for line in fields { Array(line.utf8).withUnsafeBytes { _ = block.append(line: $0) } }
        return CachedResponse(
            status: status, httpVersion: "http/1.1", fields: block,
            requested: CacheTime(wall: received - 10, uptime: 5),
            received: CacheTime(wall: received, uptime: 15), vary: vary, credentials: credentials)
    }

    static func entry(
        _ url: String, body: [UInt8], response: CachedResponse? = nil, lastUse: Int64 = 1_000_000
    ) -> CacheEntry {
        CacheEntry(
            key: key(url), response: response ?? DiskBench.response(), body: .memory(body),
            lastUse: CacheTime(wall: lastUse, uptime: nil))
    }

    /// Bytes that differ everywhere.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    // MARK: Files

    /// The paths of all body files.
    func bodyFiles() -> [String] {
        FolderListing.names(in: "\(folder)/body").flatMap { part in
            FolderListing.names(in: "\(folder)/body/\(part)").map { "\(folder)/body/\(part)/\($0)" }
        }
    }

    static func content(of path: String) -> [UInt8]? {
        guard let file = try? FileDescriptor.open(path, O_RDONLY) else { return nil }
        return try? Bytes.readAll(file.raw, atMost: 1 << 28, path: path)
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        try bytes.withUnsafeBytes { try Bytes.writeAll(file.raw, $0) }
    }

    static func mode(of path: String) -> UInt32? {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_mode & 0o7777 : nil
    }

    static func remove(_ path: String) {
        for name in FolderListing.names(in: path) {
            var info = stat()
            guard lstat("\(path)/\(name)", &info) == 0 else { continue }
            if info.st_mode & S_IFMT == S_IFDIR { remove("\(path)/\(name)") } else { unlink("\(path)/\(name)") }
        }
        rmdir(path)
    }
}

extension CacheEntry {
    /// The bytes in memory; `nil` for a file.
    var inline: [UInt8]? { if case .memory(let bytes) = body { bytes } else { nil } }

    /// The file; `nil` for bytes in memory.
    var file: StoredBodyFile? { if case .file(let file) = body { file } else { nil } }
}

extension FieldBlock {
    /// The lines, as they would be sent.
    var lines: [String] {
        var lines: [String] = []
        forEach { name, value in
            lines.append(String(decoding: name, as: UTF8.self) + ": " + String(decoding: value, as: UTF8.self))
        }
        return lines
    }
}
