internal import CarpoolSystem
internal import Glibc

/// Reports changes of the list of name servers.
///
/// It watches folders: a watch on the file itself would end when another file is renamed over it.
final class ResolverFileWatch: ReadinessHandler {
    private let path: String
    private let loop: EventLoop
    private let onChange: () -> Void
    private let descriptor: FileDescriptor
    /// The relevant names in each watched folder, by the kernel's number of the watch.
    private var watched: [Int32: Set<String>] = [:]

    private static let mask = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE)
    /// The fixed part of an event: watch, mask, cookie, length of the name (inotify(7)).
    private static let headerBytes = 16

    init(path: String, loop: EventLoop, onChange: @escaping () -> Void) throws(SystemError) {
        self.path = path
        self.loop = loop
        self.onChange = onChange
        let fd = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard fd >= 0 else { throw .last("inotify_init1") }
        descriptor = FileDescriptor(owning: fd)
        loop.setInterest(.readable, for: fd, handler: self)
        watchFolders()
    }

    /// Stops reporting.
    func close() { loop.forget(descriptor.raw) }

    /// Watches the folders that the path leads through now. Call it also from time to time, since a missing folder may
    /// have been created.
    func watchFolders() {
        var current: [Int32: Set<String>] = [:]
        for (folder, name) in ResolverFile.folders(of: path) {
            let watch = inotify_add_watch(descriptor.raw, folder, ResolverFileWatch.mask)
            if watch >= 0 { current[watch, default: []].insert(name) }
        }
        for watch in watched.keys where current[watch] == nil { inotify_rm_watch(descriptor.raw, watch) }
        watched = current
    }

    func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        var isRelevant = false
        withUnsafeTemporaryAllocation(byteCount: 8_192, alignment: 8) { buffer in
            while case .bytes(let count) = Bytes.read(fd, into: buffer) {
                if hasRelevantEvent(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { isRelevant = true }
            }
        }
        guard isRelevant else { return }
        watchFolders()
        onChange()
    }

    private func hasRelevantEvent(_ events: UnsafeRawBufferPointer) -> Bool {
        var rest = events
        while rest.count >= ResolverFileWatch.headerBytes {
            let watch = rest.loadUnaligned(as: Int32.self)
            let mask = rest.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
            let length = Int(rest.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
            // The queue was full, or a folder was removed.
            if mask & UInt32(IN_Q_OVERFLOW | IN_IGNORED) != 0 { return true }
            let name = rest.dropFirst(ResolverFileWatch.headerBytes).prefix(length).prefix { $0 != 0 }
            if watched[watch]?.contains(String(decoding: name, as: UTF8.self)) == true { return true }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(ResolverFileWatch.headerBytes + length))
        }
        return false
    }
}
