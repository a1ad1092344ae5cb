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
    /// The parts of a form.
    case form([FormPart])

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

    /// Reads a body; holds at most ``inlineBytes`` of it in memory.
    package static func load(_ source: Source) throws(SystemError) -> BodyArgument {
        switch source {
        case .text(let text): return .bytes(Array(text.utf8))
        case .file(let path): return try load(NamedPath.open(path, O_RDONLY), path: path)
        case .standardInput: return try load(standardInput(), path: nil)
        case .stream: return .stream(StreamedBody(try standardInput(), name: "standard input"))
        case .upload(let path): return try upload(path)
        case .form(let parts):
            // The daemon opens them when the request is made; a wrong name is noticed before.
            for case .file(let path) in parts.map(\.content)
            where SystemPath.withBytes(path, { access($0, R_OK) }) != 0 { throw .last("open", path) }
            return .form(parts)
        }
    }

    private static func standardInput() throws(SystemError) -> FileDescriptor {
        let fd = dup(STDIN_FILENO)
        guard fd >= 0 else { throw .last("read", "standard input") }
        return FileDescriptor(owning: fd)
    }

    /// The daemon reads a regular file; anything else, such as a named pipe, is read here.
    private static func upload(_ path: String) throws(SystemError) -> BodyArgument {
        let file = try NamedPath.open(path, O_RDONLY)
        var info = stat()
        guard fstat(file.raw, &info) == 0 else { throw .last("fstat", path) }
        guard info.st_mode & S_IFMT == S_IFREG else { return .stream(StreamedBody(file, name: path)) }
        return .file(SocketLocation.absolute(path))
    }

    private static func load(_ source: consuming FileDescriptor, path: String?) throws(SystemError) -> BodyArgument {
        var info = stat()
        guard fstat(source.raw, &info) == 0 else { throw .last("fstat", path) }
        let isRegular = info.st_mode & S_IFMT == S_IFREG
        if isRegular, info.st_size > inlineBytes, let path { return .file(SocketLocation.absolute(path)) }
        let name = path ?? "standard input"
        var bytes = [UInt8](repeating: 0, count: inlineBytes + 1)
        var count = 0
        while count < bytes.count {
            let more = try NamedPath.read(source.raw, into: &bytes, from: count, of: name)
            guard more > 0 else { return .bytes(Array(bytes[..<count])) }
            count += more
        }
        return try copy(bytes, rest: source, isRegular: isRegular, name)
    }

    /// Copies to the state directory, which the daemon sees even if it has a /tmp of its own.
    private static func copy(
        _ head: [UInt8], rest: borrowing FileDescriptor, isRegular: Bool, _ name: String
    ) throws(SystemError) -> BodyArgument {
        let folder = Directories(environment: .process, uid: geteuid()).own.state
        try PrivateDirectory.create(folder)
        let file = try TemporaryFile(in: folder)
        let output = BlockingOutput(borrowing: file.descriptor.raw)
        try output.write(head)
        if isRegular {
            try output.copy(from: rest)
            return .copy(file)
        }
        var bytes = head
        while true {
            let count = try NamedPath.read(rest.raw, into: &bytes, of: name)
            guard count > 0 else { return .copy(file) }
            try output.write(Array(bytes[..<count]))
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
        case .form(let parts):
            writer.key("multipart")
            writer.beginArray()
            for part in parts { part.write(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }
}
