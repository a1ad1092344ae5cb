internal import CarpoolSystem
internal import Glibc
internal import Synchronization

/// A persistent index of partial files: a directory with a symbolic link to each of them, named after its request. A
/// link is created and removed in one step each, so that there is nothing to repair after a crash.
///
/// Its methods may block, and run on any thread.
public final class PartialFileIndex: Sendable {
    private let directory: String
    private let count = Mutex(0)

    /// The most files in the index: looking through more would hold the loop for long.
    static let maximumCount = 10_000
    /// How long an unused partial file is kept, in seconds: 7 days.
    static let maximumAge = 604_800

    /// Opens an existing directory.
    public init(directory: String) { self.directory = directory }

    /// Adds a file. Returns `false` if the index is full, or the link cannot be created.
    func add(_ path: String, request: String) -> Bool {
        guard count.withLock({ $0 < PartialFileIndex.maximumCount }), link("\(directory)/\(request)", to: path) else {
            return false
        }
        count.withLock { $0 += 1 }
        return true
    }

    /// Makes a link, and the directory again if it was removed.
    private func link(_ link: String, to path: String) -> Bool {
        if make(link, to: path) { return true }
        guard errno == ENOENT, (try? PrivateDirectory.create(directory)) != nil else { return false }
        return make(link, to: path)
    }

    private func make(_ link: String, to path: String) -> Bool {
        SystemPath.withBytes(path) { symlink($0, link) } == 0
    }

    /// Removes a file from the index.
    func remove(_ path: String) {
        guard let request = PartialName.request(ofPath: path) else { return }
        if unlink("\(directory)/\(request)") == 0 { count.withLock { $0 -= 1 } }
    }

    /// Removes files that were not resumed for 7 days, and the links of those that no longer exist.
    public func removeOld() {
        let oldest = Int(WallClock.microseconds() / 1_000_000) - PartialFileIndex.maximumAge
        let links = names()
        count.withLock { $0 = links.count }
        for link in links {
            guard let path = target(of: link) else { continue }
            var status = stat()
            let isThere = SystemPath.withBytes(path) { lstat($0, &status) } == 0
            guard !isThere || status.st_mtim.tv_sec < oldest else { continue }
            if OpenedPartial.removeUnused(path, index: nil), unlink("\(directory)/\(link)") == 0 {
                count.withLock { $0 -= 1 }
            }
        }
    }

    private func names() -> [String] {
        guard let folder = opendir(directory) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < PartialFileIndex.maximumCount, let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name.hasPrefix("r_") { names.append(name) }
        }
        return names
    }

    private func target(of link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes -> Int in
            let text = bytes.assumingMemoryBound(to: CChar.self)
            return text.baseAddress.map { readlink("\(directory)/\(link)", $0, text.count) } ?? 0
        }
        return count > 0 ? SystemPath.text(buffer[..<count]) : nil
    }
}
