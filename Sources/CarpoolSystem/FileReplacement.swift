internal import CLinux
internal import Glibc

/// Puts a complete file in the place of another one, which may be there already.
///
/// The file that is there is replaced in one step, by a rename, and the new one gets its mode, owner, group, access
/// control list and extended attributes. Where that would lose something, the bytes are written into the file that is
/// there: with a second hard link, with an owner or an attribute that cannot be given to another file, for a mount
/// point, and in a folder in which no name may be changed. A file that another user has put into a folder that all may
/// write is left alone (EACCES).
public struct FileReplacement {
    /// Where the complete file is.
    public enum Source {
        /// It has this name, in this folder.
        case named(String, Folder)
        /// It has no name, and is on the file system of the folder that gets it.
        case unnamed
        /// It is elsewhere, and is copied.
        case elsewhere
    }

    private let folder: Folder
    private let name: String
    /// The file that is there; `nil` if there is none, or a link that was created since the path was resolved.
    private let old: FileStatus?

    /// The file of this name in a folder.
    /// - Throws: EISDIR or EEXIST if something else than a file is there.
    public init(of name: String, in folder: Folder) throws(SystemError) {
        self.folder = folder
        self.name = name
        do throws(SystemError) {
            let status = try folder.status(of: name)
            switch status.kind {
            case .regular: old = status
            case .link: old = nil
            case .directory, .other:
                throw SystemError(
                    code: status.kind == .directory ? EISDIR : EEXIST, operation: "rename",
                    subject: "\(folder.path)/\(name)")
            }
        } catch {
            guard error.code == ENOENT else { throw error }
            old = nil
        }
    }

    /// Fails with EACCES if another user has put the file of this name into the folder, which all may write.
    public static func check(_ name: String, in folder: Folder) throws(SystemError) {
        guard let old = try? folder.status(of: name), old.kind == .regular else { return }
        guard try !folder.isPlanted(old) else { throw NamedPath.planted("rename", "\(folder.path)/\(name)") }
    }

    /// Puts the file in its place, and returns the identity of the file that has the bytes now. May block for as long
    /// as it takes to copy them. If it fails, the file that is there is as it was, unless the disk failed while bytes
    /// were written into it.
    /// - Parameters:
    ///   - descriptor: the complete file, open for reading and writing.
    ///   - mode: that of a file which is new.
    ///   - isFixed: whether a file that replaces another one has this mode too.
    public func put(
        _ descriptor: Int32, _ source: Source, mode: UInt32, isFixed: Bool = false
    ) throws(SystemError) -> FileStatus.Identity {
        guard let old else {
            guard fchmod(descriptor, mode) == 0 else { throw .last("fchmod", path) }
            try rename(descriptor, source)
            return try FileStatus(of: descriptor).identity
        }
        guard try !folder.isPlanted(old) else { throw NamedPath.planted("rename", path) }
        if case .elsewhere = source {
        } else if !mustStay(old), FileReplacement.give(of: name, in: folder, to: descriptor) {
            do throws(SystemError) {
                if isFixed, fchmod(descriptor, mode) != 0 { throw .last("fchmod", path) }
                try rename(descriptor, source)
                return try FileStatus(of: descriptor).identity
            } catch {
                guard FileReplacement.isRefused(error.code) || error.code == EXDEV else { throw error }
            }
        }
        try write(descriptor, into: old, mode: isFixed ? mode : nil)
        if case .named(let temporary, let place) = source { try? place.unlink(temporary) }
        return old.identity
    }

    private var path: String { folder.path == "/" ? "/\(name)" : "\(folder.path)/\(name)" }

    /// Whether a name cannot be given to another file: a mount point, a folder or a sticky one of another user, a file
    /// system that is not writable.
    public static func isRefused(_ code: Int32) -> Bool { [EBUSY, EACCES, EPERM, EROFS].contains(code) }

    /// Whether the file has other names, which would lose it. In a folder that another user can change, a second name
    /// of this user's own file may have been planted: such a name is replaced, and the file is left alone.
    private func mustStay(_ old: FileStatus) -> Bool {
        guard old.links > 1 else { return false }
        guard old.owner == geteuid(), let place = try? folder.status() else { return true }
        return place.owner == geteuid() && place.permissions & 0o022 == 0
    }

    // MARK: Renaming

    private func rename(_ descriptor: Int32, _ source: Source) throws(SystemError) {
        switch source {
        case .named(let temporary, let place): try place.rename(temporary, to: name, in: folder, replaces: true)
        case .elsewhere: throw SystemError(code: EXDEV, operation: "rename", subject: path)
        case .unnamed:
            let temporary = Folder.temporaryName()
            try folder.link(unnamed: descriptor, to: temporary)
            do throws(SystemError) {
                try folder.rename(temporary, to: name, in: folder, replaces: true)
            } catch {
                try? folder.unlink(temporary)
                throw error
            }
        }
    }

    /// Copies to the new file what the old one has besides its bytes. Returns false if not all of it can be copied.
    private static func give(of name: String, in folder: Folder, to descriptor: Int32) -> Bool {
        let flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let reading = try? folder.open(name, O_RDONLY | flags)
        // A file of this user that it may neither read nor write has its mode, and no more that can be known.
        guard let file = reading ?? (try? folder.open(name, O_WRONLY | flags)) else {
            guard let status = try? folder.status(of: name) else { return false }
            return give(ownerOf: status, to: descriptor) && give(modeOf: status, to: descriptor)
        }
        guard let status = try? FileStatus(of: file.raw), status.kind == .regular else { return false }
        // The mode comes last: without the right to write its owner may set no attributes of users.
        return give(ownerOf: status, to: descriptor) && give(attributesOf: file.raw, to: descriptor)
            && give(modeOf: status, to: descriptor)
    }

    private static func give(ownerOf old: FileStatus, to descriptor: Int32) -> Bool {
        guard let new = try? FileStatus(of: descriptor) else { return false }
        guard new.owner != old.owner || new.group != old.group else { return true }
        return fchown(descriptor, old.owner, old.group) == 0
    }

    private static func give(modeOf old: FileStatus, to descriptor: Int32) -> Bool {
        // As after a write: only a privileged process keeps the bits of set-user-ID and set-group-ID.
        let kept: UInt32 = geteuid() == 0 ? 0o7777 : 0o1777
        return fchmod(descriptor, old.permissions & kept) == 0
    }

    /// Copies the extended attributes, the access control list among them, and removes those that a new file of the
    /// folder got.
    private static func give(attributesOf old: Int32, to descriptor: Int32) -> Bool {
        guard let wanted = FileAttribute.names(of: old), let present = FileAttribute.names(of: descriptor) else {
            return false
        }
        for name in present where isKept(name) && !wanted.contains(name) {
            FileAttribute.remove(name, of: descriptor)
        }
        // An access control list, whose name begins with `system.`, may take the right to set those of users.
        for name in wanted.sorted(by: >) where isKept(name) {
            guard let value = FileAttribute.read(name, of: old, atMost: FileAttribute.maximumBytes) else {
                return false
            }
            let has =
                present.contains(name)
                && FileAttribute.read(name, of: descriptor, atMost: FileAttribute.maximumBytes) == value
            guard has || FileAttribute.write(name, value, of: descriptor) else { return false }
        }
        return true
    }

    /// Whether an attribute outlives a change of the bytes: not so capabilities and measurements of the old bytes.
    private static func isKept(_ name: String) -> Bool {
        !["security.capability", "security.evm", "security.ima"].contains(name)
    }

    // MARK: Writing in place

    /// - Parameter mode: that of the file from now on; `nil` for the one that it has. A file of another user keeps its
    ///   own.
    private func write(_ descriptor: Int32, into old: FileStatus, mode: UInt32?) throws(SystemError) {
        let file = try folder.open(name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard try FileStatus(of: file.raw).identity == old.identity else {
            throw SystemError(code: ESTALE, operation: "open", subject: path)
        }
        // Before the bytes, which not all may read who could read the old ones.
        if let mode, fchmod(file.raw, mode) != 0, errno != EPERM { throw .last("fchmod", path) }
        guard CLinux_copy_into(descriptor, file.raw) == 0 else { throw .last("write", path) }
    }
}
