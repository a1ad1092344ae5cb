internal import CarpoolHTTP
internal import CarpoolSystem

// Stores on disk that no session uses.
extension CacheStores {
    /// The time before they are looked at: sessions may end one after the other.
    private static let delayMilliseconds = 1_000

    /// How long they stay open after they were listed or purged.
    private static let provisionalMilliseconds = 60_000

    /// Opens those of a user, so that they can be listed and purged, and calls back when all of the user's are open.
    public func openAll(of user: UInt32?, then: @escaping () -> Void) {
        guard let place else { return then() }
        loop.arm(provisionalTimer, afterMilliseconds: CacheStores.provisionalMilliseconds)
        let directory = place.directory
        place.worker.runAlways(for: .housekeeping, { FolderListing.names(in: directory) }) { [self] folders in
            var settings = CacheSettings()
            settings.diskBytes = place.maximumBytes
            for name in folders.compactMap(place.storeName) where name.user == user && known(name) == nil {
                _ = make(name, settings, isProvisional: true)
            }
            awaitOpen(all(of: user).compactMap(\.disk)[...], then: then)
        }
    }

    private func awaitOpen(_ disks: ArraySlice<DiskStore>, then: @escaping () -> Void) {
        guard let first = disks.first(where: \.isOpening) else { return then() }
        let rest = disks.drop { $0 !== first }.dropFirst()
        first.whenOpen { [self] in awaitOpen(rest, then: then) }
    }

    /// Removes some of them soon if they take more than there may be.
    public func trimDormant() {
        guard place != nil else { return }
        // What is found soon may be without the store that has just been closed.
        trimsAgain = isTrimming
        guard !isTrimming else { return }
        isTrimming = true
        loop.arm(Timer { [self] in findDormant() }, afterMilliseconds: CacheStores.delayMilliseconds)
    }

    private func findDormant() {
        guard let place else { return }
        let (directory, used) = (place.directory, usedFolders)
        place.worker.runAlways(
            for: .housekeeping, { DormantStores.find(in: directory, except: used) }
        ) { [self] found in
            isTrimming = false
            if trimsAgain { trimDormant() }
            let used = usedFolders
            let room = max(0, place.maximumBytes - diskBytesInUse)
            for folder in DormantStores.surplus(among: found.filter { !used.contains($0.folder) }, bytes: room) {
                if let name = place.storeName(folder) { removeDormant(name, folder, place) }
            }
        }
    }

    func removeDormant(_ name: CacheStoreName, _ folder: String, _ place: Place) {
        beginClosing(name)
        let directory = place.directory
        let remove = { [self] in
            place.worker.runAlways(for: .housekeeping, { DormantStores.remove(folder, in: directory) }) { [self] in
                endClosing(name)
            }
        }
        // One that was opened for a list is closed before.
        end(name, removing: false, then: remove)
    }
}
