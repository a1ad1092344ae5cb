internal import CarpoolSystem
internal import Glibc

/// Tells of changes to the list of name servers.
///
/// It watches folders: a watch on the file itself would die with the first file that is renamed over it.
final class ResolverFileWatch: ReadinessHandler {
    private let path: String
    private let loop: EventLoop
    private let onChange: () -> Void
    private let descriptor: FileDescriptor
    /// The watches by the kernel's number: a folder, and the names in it that matter.
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

    /// Stops telling.
    func close() { loop.forget(descriptor.raw) }

    /// Watches the folders that the path leads through now. To be called also from time to time: one that was not
    /// there may be now.
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
        var isOurs = false
        withUnsafeTemporaryAllocation(byteCount: 8_192, alignment: 8) { buffer in
            while case .bytes(let count) = Bytes.read(fd, into: buffer) {
                if concernsUs(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { isOurs = true }
            }
        }
        guard isOurs else { return }
        watchFolders()
        onChange()
    }

    private func concernsUs(_ events: UnsafeRawBufferPointer) -> Bool {
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
