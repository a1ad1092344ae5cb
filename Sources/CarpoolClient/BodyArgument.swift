package import CarpoolJSON
package import CarpoolSystem
internal import Glibc

/// A request body as the daemon receives it: inside the message if it is small, else as a file that the daemon opens.
package enum BodyArgument {
    /// Its bytes.
    case bytes([UInt8])
    /// The absolute path of the caller's file.
    case file(String)
    /// A copy of what came through a pipe, deleted with this value.
    case copy(TemporaryFile)
    /// A body sent to the daemon in pieces.
    case stream(StreamedBody)
    /// The parts of a form, and the copy of files that the daemon cannot open, deleted with this value.
    case form([FormPart], copy: TemporaryFile? = nil)

    /// The body, if it is sent in pieces.
    package var streamed: StreamedBody? {
        if case .stream(let body) = self { return body }
        return nil
    }

    /// The source of the body in a command line.
    package enum Source: Equatable {
        case text(String)
        case file(String)
        case standardInput
        /// A file sent as it is, without a default content type.
        case upload(String)
        /// Standard input, sent while it is read.
        case stream
        /// A form of parts.
        case form([FormPart])
    }

    /// The largest body inside a message: a message may have 1 MiB, and escaping makes a text up to six times as long.
    package static let inlineBytes = 65_536

    /// Called before each read of a file with its descriptor, its name, and how many bytes were read.
    package typealias Wait = (Int32, String, Int64) -> Void

    /// Reads a body; holds at most ``inlineBytes`` of it in memory.
    package static func load(
        _ source: Source, waiting wait: Wait = { _, _, _ in }
    ) throws(SystemError) -> BodyArgument {
        switch source {
        case .text(let text): return .bytes(Array(text.utf8))
        case .file(let path): return try load(NamedPath.open(path, O_RDONLY), path: path, wait)
        case .standardInput: return try load(standardInput(), path: nil, wait)
        case .stream: return .stream(StreamedBody(try standardInput(), name: "standard input"))
        case .upload(let path): return try upload(path)
        case .form(let parts): return try form(parts)
        }
    }

    /// The daemon opens the files when the request is made; a wrong name is noticed before.
    private static func form(_ parts: [FormPart]) throws(SystemError) -> BodyArgument {
        var parts = parts
        var copy: TemporaryFile?
        for (index, part) in parts.enumerated() {
            guard case .file(let path) = part.content else { continue }
            guard SystemPath.withBytes(path, { access($0, R_OK) }) == 0 else { throw .last("open", path) }
            guard isOfProcess(path) else { continue }
            let file: TemporaryFile
            if let copy { file = copy } else { file = try temporaryFile() }
            copy = file
            let start = Int64(lseek(file.descriptor.raw, 0, SEEK_END))
            try append(try NamedPath.open(path, O_RDONLY), to: file, path)
            let length = Int64(lseek(file.descriptor.raw, 0, SEEK_END)) - start
            parts[index] = part.reading(file.path, offset: start, length: length)
        }
        return .form(parts, copy: copy)
    }

    private static func standardInput() throws(SystemError) -> FileDescriptor {
        let fd = dup(STDIN_FILENO)
        guard fd >= 0 else { throw .last("read", "standard input") }
        return FileDescriptor(owning: fd)
    }

    /// Whether a path may name another file in another process: `/dev/stdin`, `/dev/fd/3` and what they lead to.
    private static func isOfProcess(_ path: String) -> Bool {
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
        guard let real = SystemPath.withBytes(parent, { realpath($0, nil) }) else { return false }
        defer { free(real) }
        let folder = SystemPath.text(real) + "/"
        return folder.hasPrefix("/proc/") || folder.hasPrefix("/dev/") && !folder.hasPrefix("/dev/shm/")
    }

    /// The daemon reads a regular file; anything else, such as a named pipe or a descriptor of this process, is read
    /// here.
    private static func upload(_ path: String) throws(SystemError) -> BodyArgument {
        let file = try NamedPath.open(path, O_RDONLY)
        var info = stat()
        guard fstat(file.raw, &info) == 0 else { throw .last("fstat", path) }
        guard info.st_mode & S_IFMT == S_IFREG, !isOfProcess(path) else {
            return .stream(StreamedBody(file, name: path))
        }
        return .file(SocketLocation.absolute(path))
    }

    private static func load(
        _ source: consuming FileDescriptor, path: String?, _ wait: Wait
    ) throws(SystemError) -> BodyArgument {
        var info = stat()
        guard fstat(source.raw, &info) == 0 else { throw .last("fstat", path) }
        let isRegular = info.st_mode & S_IFMT == S_IFREG
        if isRegular, info.st_size > inlineBytes, let path, !isOfProcess(path) {
            return .file(SocketLocation.absolute(path))
        }
        let name = path ?? "standard input"
        var bytes = [UInt8](repeating: 0, count: inlineBytes + 1)
        var count = 0
        while count < bytes.count {
            wait(source.raw, name, Int64(count))
            let more = try NamedPath.read(source.raw, into: &bytes, from: count, of: name)
            guard more > 0 else { return .bytes(Array(bytes[..<count])) }
            count += more
        }
        let file = try temporaryFile()
        let output = BlockingOutput(borrowing: file.descriptor.raw)
        try output.write(bytes)
        if isRegular {
            try output.copy(from: source)
        } else {
            try append(source, to: file, name) { wait($0, $1, Int64(count) + $2) }
        }
        return .copy(file)
    }

    /// In the state directory, which the daemon sees even if it has a /tmp of its own.
    private static func temporaryFile() throws(SystemError) -> TemporaryFile {
        let folder = Directories(environment: .process, uid: geteuid()).own.state
        try PrivateDirectory.create(folder)
        return try TemporaryFile(in: folder)
    }

    private static func append(
        _ source: borrowing FileDescriptor, to file: TemporaryFile, _ name: String, _ wait: Wait = { _, _, _ in }
    ) throws(SystemError) {
        let output = BlockingOutput(borrowing: file.descriptor.raw)
        var bytes = [UInt8](repeating: 0, count: inlineBytes)
        var total: Int64 = 0
        while true {
            wait(source.raw, name, total)
            let count = try NamedPath.read(source.raw, into: &bytes, of: name)
            guard count > 0 else { return }
            try output.write(Array(bytes[..<count]))
            total += Int64(count)
        }
    }

    /// Writes the object that `request.perform` takes as `body`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .bytes(let bytes):
            bytes.withUnsafeBytes { buffer in
                if JSONWriter.isUTF8(buffer) {
                    writer.key("text")
                    writer.string(utf8: buffer)
                } else {
                    writer.key("base64")
                    writer.base64(buffer)
                }
            }
        case .file(let path): writer.member("file", path)
        case .copy(let file): writer.member("file", file.path)
        case .stream(let body):
            writer.member("stream", true)
            if let length = body.lengthBytes { writer.member("length_bytes", length) }
        case .form(let parts, _):
            writer.key("multipart")
            writer.beginArray()
            for part in parts { part.write(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }
}
