internal import CarpoolSystem
internal import Glibc

/// The body files of a disk store: `body/ab/<id>` in its folder, which are written in `tmp` and renamed when they are
/// complete. All calls may block: for jobs of a worker.
struct BodyFiles: Sendable {
    /// The folder of the store, without symbolic links.
    let folder: String

    /// Makes the folders that are missing, and removes what an earlier run has not completed.
    func prepare() throws(DiskError) {
        do throws(SystemError) {
            for path in ["\(folder)/tmp", "\(folder)/body"] { try PrivateDirectory.create(path) }
        } catch {
            throw DiskError(error)
        }
        for name in FolderListing.names(in: "\(folder)/tmp") { unlink("\(folder)/tmp/\(name)") }
    }

    private func path(of file: StoredBodyFile) -> String { path(of: file.id) }

    private func path(of id: Int64) -> String {
        "\(folder)/body/\(StoredBodyFile.folderName(of: id))/\(StoredBodyFile.name(of: id))"
    }

    /// Writes a file. It has its name only when it is complete, and is read-only: clients receive links to it (HS-07).
    func write(_ bytes: [UInt8], id: Int64) throws(DiskError) {
        let temporary = "\(folder)/tmp/\(StoredBodyFile.name(of: id))"
        do throws(SystemError) {
            let file = try FileDescriptor.open(
                temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY, mode: 0o400)
            var failure: SystemError?
            bytes.withUnsafeBytes { buffer in
                do throws(SystemError) { try Bytes.writeAll(file.raw, buffer) } catch { failure = error }
            }
            if let failure { throw failure }
            try place(temporary, at: path(of: id), id)
        } catch {
            unlink(temporary)
            throw DiskError(error)
        }
    }

    private func place(_ temporary: String, at path: String, _ id: Int64) throws(SystemError) {
        if rename(temporary, path) == 0 { return }
        guard errno == ENOENT else { throw .last("rename", path) }
        try PrivateDirectory.create("\(folder)/body/\(StoredBodyFile.folderName(of: id))")
        guard rename(temporary, path) == 0 else { throw .last("rename", path) }
    }

    /// Whether the file is there and has the right length.
    func exists(_ file: StoredBodyFile) -> Bool {
        var status = stat()
        guard lstat(path(of: file), &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && Int(status.st_size) == file.length
    }

    /// Opens a file for reading.
    func open(_ file: StoredBodyFile) throws(SystemError) -> FileDescriptor {
        try FileDescriptor.open(path(of: file), O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK)
    }

    /// Removes a file.
    func remove(_ id: Int64) { unlink(path(of: id)) }

    /// The numbers of the files in one of the 256 folders; other names are removed.
    func numbers(inFolder index: Int) -> [Int64] {
        let path = "\(folder)/body/\(StoredBodyFile.folderName(of: Int64(index)))"
        var numbers: [Int64] = []
        for name in FolderListing.names(in: path) {
            if let id = Int64(name, radix: 16), id & 0xFF == Int64(index), StoredBodyFile.name(of: id) == name {
                numbers.append(id)
            } else {
                unlink("\(path)/\(name)")
            }
        }
        return numbers
    }
}
