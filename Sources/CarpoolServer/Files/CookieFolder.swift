internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// The files of persistent jars: one for each session, `<uid>.<session>.txt` of mode 0600, in the form of curl's cookie
/// files. Its methods may block.
struct CookieFolder: Sendable {
    /// The jar of which session.
    struct Key: Hashable {
        let uid: UInt32
        let session: String
    }

    /// Why the cookies of a session cannot be read.
    struct Refusal: Error {
        let message: String
        /// The `errno` of the shortage that is the reason; `nil` if none is.
        var shortage: Int32?
    }

    let directory: String

    /// The most files of one user, so that names of sessions do not fill the disk.
    private static let maximumFiles = 256
    /// The most bytes that are read; a full jar of the longest cookies takes less.
    private static let maximumBytes = 20_971_520
    /// The most bytes of the files of one user.
    private static let maximumUserBytes = 67_108_864

    private func path(_ key: Key) -> String { "\(directory)/\(key.uid).\(key.session).txt" }

    /// Reads the cookies of a session, none if it has no file.
    func read(_ key: Key) throws(Refusal) -> [Cookie] {
        let path = path(key)
        let bytes: [UInt8]
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            bytes = try Bytes.readAll(file.raw, atMost: CookieFolder.maximumBytes, path: path)
        } catch {
            guard error.code == ENOENT else { throw Refusal(error) }
            guard count(of: key.uid) < CookieFolder.maximumFiles else {
                throw Refusal(
                    message: "uid \(key.uid) has \(CookieFolder.maximumFiles) cookie files in \(directory) already")
            }
            return []
        }
        do throws(NetscapeCookies.Refusal) {
            let cookies = try NetscapeCookies.read(String(decoding: bytes, as: UTF8.self), for: nil)
            return cookies.filter { !$0.isExpired(at: CookieJar.now) }
        } catch {
            throw Refusal(message: "\(path) has more than \(CookieJar.Limits.cookies) cookies")
        }
    }

    private static func write(_ text: [UInt8], to file: borrowing FileDescriptor) throws(SystemError) {
        let raw = file.raw
        let written: Result<Void, SystemError> = text.withUnsafeBytes { bytes in
            do throws(SystemError) { return .success(try Bytes.writeAll(raw, bytes)) } catch { return .failure(error) }
        }
        try written.get()
    }

    /// How many files a user has.
    private func count(of uid: UInt32) -> Int { files(of: uid).count }

    /// The names of the files of a user.
    private func files(of uid: UInt32) -> [String] {
        guard let folder = opendir(directory) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < CookieFolder.maximumFiles, let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name.hasPrefix("\(uid)."), name.hasSuffix(".txt") { names.append(name) }
        }
        return names
    }

    /// Why a file of so many bytes may not be written; `nil` if it may.
    private func refusal(of bytes: Int, _ key: Key) -> SystemError? {
        let own = "\(key.uid).\(key.session).txt"
        let others = files(of: key.uid).filter { $0 != own }
        var sum = bytes
        for name in others {
            var status = stat()
            if lstat("\(directory)/\(name)", &status) == 0 { sum &+= Int(status.st_size) }
        }
        guard others.count >= CookieFolder.maximumFiles || sum > CookieFolder.maximumUserBytes else { return nil }
        return SystemError(
            code: EDQUOT, operation: "write", subject: path(key),
            advice: "a user has at most \(CookieFolder.maximumFiles) cookie files of 64 MiB in all")
    }

    /// Writes the cookies of a session in place of its file: another process sees the old file or the new one. Without
    /// cookies the file is removed. Returns the failure.
    func write(_ cookies: [Cookie], _ key: Key) -> SystemError? {
        let path = path(key)
        guard !cookies.isEmpty else {
            return unlink(path) == 0 || errno == ENOENT ? nil : .last("unlink", path)
        }
        let temporary = "\(path).new"
        let text = Array(NetscapeCookies.text(cookies).utf8)
        if let refusal = refusal(of: text.count, key) { return refusal }
        // What a daemon that was killed has left.
        unlink(temporary)
        do throws(SystemError) {
            let file = try make(temporary)
            try CookieFolder.write(text, to: file)
            guard fsync(file.raw) == 0 else { throw .last("fsync", temporary) }
            guard rename(temporary, path) == 0 else { throw .last("rename", path) }
            return nil
        } catch {
            unlink(temporary)
            return error
        }
    }

    /// Makes a file, and the directory again if it was removed.
    private func make(_ path: String) throws(SystemError) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do throws(SystemError) { return try FileDescriptor.open(path, flags, mode: 0o600) } catch {
            guard error.code == ENOENT else { throw error }
        }
        try PrivateDirectory.create(directory)
        return try FileDescriptor.open(path, flags, mode: 0o600)
    }
}

extension CookieFolder.Refusal {
    fileprivate init(_ error: SystemError) {
        self.init(message: error.description, shortage: Shortage.noteIfShort(error.code) ? error.code : nil)
    }
}
