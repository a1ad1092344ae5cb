internal import CarpoolSystem
internal import Glibc

/// The key of a store for the hashes of credentials: 32 random bytes in the file `key`, which only its owner can read.
enum StoreKeyFile {
    static let length = 32

    /// Reads the key, or makes one.
    /// - Parameter known: the key of this run, which is written again if the file is gone.
    static func open(in folder: String, known: [UInt8]?) throws(DiskError) -> [UInt8] {
        let path = "\(folder)/key"
        do throws(SystemError) {
            if let key = try read(path) {
                guard key.count == length else { throw SystemError(code: EINVAL, operation: "read", subject: path) }
                return key
            }
            let key = known ?? random()
            try write(key, to: path, in: folder)
            return key
        } catch {
            throw DiskError(error)
        }
    }

    /// The content of the file; `nil` if there is none, or one that a kill has left empty.
    private static func read(_ path: String) throws(SystemError) -> [UInt8]? {
        let file: FileDescriptor
        do throws(SystemError) {
            file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        var status = stat()
        guard fstat(file.raw, &status) == 0 else { throw .last("fstat", path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw SystemError(
                code: EPERM, operation: "open", subject: path, advice: "others than its owner can read or change it")
        }
        return try Bytes.readAll(file.raw, atMost: 4_096, path: path)
    }

    /// Writes the file under another name first, so that it is never seen half written.
    private static func write(_ key: [UInt8], to path: String, in folder: String) throws(SystemError) {
        let temporary = "\(folder)/tmp/key"
        let file = try FileDescriptor.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        var failure: SystemError?
        key.withUnsafeBytes { buffer in
            do throws(SystemError) { try Bytes.writeAll(file.raw, buffer) } catch { failure = error }
        }
        if failure == nil, fsync(file.raw) != 0 { failure = .last("fsync", temporary) }
        if failure == nil, rename(temporary, path) != 0 { failure = .last("rename", path) }
        guard let failure else { return }
        unlink(temporary)
        throw failure
    }

    private static func random() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
