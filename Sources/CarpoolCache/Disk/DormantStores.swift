internal import CarpoolSystem
internal import Glibc

/// A store on disk that no session uses: what a session that is over, or an earlier run, has left.
struct DormantStore: Sendable, Equatable {
    /// The name of its folder.
    let folder: String
    /// The bytes of its files.
    let bytes: Int
    /// When it was last written to, in milliseconds since 1970.
    let lastUse: Int

    /// Whose it is: the beginning of the folder's name.
    var owner: Substring { folder.prefix { $0 != "." } }
}

/// Stores on disk that no session uses. They have a maximum, because any client can make sessions of new names. All
/// functions but ``surplus(among:bytes:)`` may block: for jobs of a worker.
enum DormantStores {
    /// The most of one user.
    static let maximumCount = 64

    /// Finds them.
    /// - Parameter used: the folders that are left out.
    static func find(in directory: String, except used: Set<String>) -> [DormantStore] {
        FolderListing.names(in: directory).filter { !used.contains($0) }.compactMap { name in
            let folder = "\(directory)/\(name)"
            guard let status = status(of: folder), status.st_mode & S_IFMT == S_IFDIR else { return nil }
            var bytes = 0
            var lastUse = status.modified
            visit(folder) { path in
                guard let file = DormantStores.status(of: path) else { return }
                bytes += Int(file.st_size)
                lastUse = max(lastUse, file.modified)
            }
            return DormantStore(folder: name, bytes: bytes, lastUse: lastUse)
        }
    }

    /// The folders to remove, so that the rest fits: of the user with the most bytes, the one that was not used for the
    /// longest time, again and again; then those of users that have too many.
    /// - Parameter room: the most bytes of all.
    static func surplus(among stores: [DormantStore], bytes room: Int) -> [String] {
        var kept: [Substring: [DormantStore]] = [:]
        // The last is the oldest.
        for store in stores.sorted(by: { $0.lastUse > $1.lastUse }) { kept[store.owner, default: []].append(store) }
        var sizes = kept.mapValues { $0.reduce(0) { $0 + $1.bytes } }
        var total = sizes.values.reduce(0, +)
        var removed: [String] = []
        func removeOldest(of owner: Substring) {
            guard let store = kept[owner]?.popLast() else { return }
            sizes[owner, default: 0] -= store.bytes
            total -= store.bytes
            removed.append(store.folder)
        }
        while total > room, let largest = sizes.max(by: { $0.value < $1.value }), largest.value > 0 {
            removeOldest(of: largest.key)
        }
        for owner in Array(kept.keys) {
            while kept[owner, default: []].count > maximumCount { removeOldest(of: owner) }
        }
        return removed
    }

    /// Removes one, unless another process uses it.
    static func remove(_ name: String, in directory: String) {
        let folder = "\(directory)/\(name)"
        var index: DiskIndex?
        do throws(DiskError) { index = try IndexFile.open(in: folder) } catch {
            // One that is damaged, or of another version, is removed too.
            guard error.kind != .inUse else { return }
        }
        // Nobody else can open the index meanwhile.
        withExtendedLifetime(index) {
            visit(folder) { unlink($0) }
            for path in folders(of: folder) { rmdir(path) }
        }
        rmdir(folder)
    }

    /// Calls a function with the path of each file of a store.
    private static func visit(_ folder: String, _ body: (String) -> Void) {
        for path in folders(of: folder) + [folder] {
            for name in FolderListing.names(in: path) where status(of: "\(path)/\(name)")?.isFolder == false {
                body("\(path)/\(name)")
            }
        }
    }

    /// The folders in a store, the inner ones first.
    private static func folders(of folder: String) -> [String] {
        let bodies = "\(folder)/body"
        return FolderListing.names(in: bodies).map { "\(bodies)/\($0)" } + [bodies, "\(folder)/tmp"]
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }
}

extension stat {
    fileprivate var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }

    /// The time of the last change, in milliseconds since 1970.
    fileprivate var modified: Int { st_mtim.tv_sec * 1_000 + st_mtim.tv_nsec / 1_000_000 }
}
