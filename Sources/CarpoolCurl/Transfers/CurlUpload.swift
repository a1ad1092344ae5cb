internal import CarpoolSystem
internal import Glibc

/// The body of the requests of a transfer.
struct CurlUpload {
    /// Where the bytes are.
    private enum Source {
        case none
        case bytes([UInt8])
        case form(CurlForm)
        /// A regular file, from an offset on.
        case file(Int32, offset: Int64, length: Int64)
        /// Standard input that is no regular file.
        case stream(Int32)
    }

    private let source: Source
    /// Keeps the file open.
    private let file: CurlOpenFile?
    /// Whether the body was handed to a request that has read some of it.
    private(set) var isUsed = false
    /// What the header fields say of it.
    let header: CurlHeaderContext.Body
    /// Warnings about a form.
    let warnings: [String]

    /// Opens the body of a transfer. An upload begins at an offset (`-C`).
    init(_ transfer: CurlPlannedTransfer, offset: Int64, standardInput: Int32 = STDIN_FILENO) throws(CurlError) {
        let request = transfer.operation.options.request
        if let path = transfer.upload {
            warnings = []
            file = path == "-" || path == "." ? nil : try CurlOpenFile(path)
            let fd = file?.descriptor.raw ?? standardInput
            source = try CurlUpload.upload(fd, offset, isNamed: file != nil)
            // The length of standard input is not sent, even if it is a file.
            if file != nil, case .file(_, _, let length) = source {
                header = .upload(length)
            } else {
                header = .upload(nil)
            }
            return
        }
        file = nil
        if !request.form.isEmpty {
            let form = try CurlForm(
                request.form, escapes: request.escapesForms, headerLines: transfer.operation.lines,
                standardInput: standardInput)
            source = .form(form)
            warnings = transfer.isFirst ? form.warnings : []
            header = .form(form.length, contentType: form.contentType)
        } else if let data = transfer.operation.data {
            source = .bytes(data)
            warnings = []
            header = .data(Int64(data.count))
        } else {
            source = .none
            warnings = []
            header = .none
        }
    }

    private static func upload(_ fd: Int32, _ offset: Int64, isNamed: Bool) throws(CurlError) -> Source {
        var status = stat()
        guard fstat(fd, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .stream(fd) }
        let start = max(0, Int64(lseek(fd, 0, SEEK_CUR))) + offset
        let length = Int64(status.st_size) - start
        guard length <= 0 else { return .file(fd, offset: start, length: length) }
        guard offset == 0 || !isNamed else {
            throw CurlError(exitCode: CurlExitCode.partialFile, message: "File already completely uploaded")
        }
        // A file of /proc has the size 0, whatever can be read from it.
        var byte: UInt8 = 0
        guard isNamed || pread(fd, &byte, 1, off_t(start)) <= 0 else { return .stream(fd) }
        return .file(fd, offset: 0, length: 0)
    }

    /// Whether the body can be sent once more.
    var isRepeatable: Bool {
        if case .stream = source { return !isUsed }
        return true
    }

    /// The body was not read.
    mutating func takeBack() { isUsed = false }

    /// Begins to send: what the call says of the body, the descriptor that goes with it, and what fills it.
    mutating func begin() throws(CurlError) -> CurlSending {
        isUsed = true
        switch source {
        case .none: return CurlSending(body: .none)
        case .bytes(let bytes): return try CurlUpload.sending(bytes)
        case .form(let form): return try CurlUpload.sending(form)
        case .file(let fd, let offset, let length):
            return CurlSending(body: .descriptor(offset: offset, length: length), borrowed: fd)
        case .stream(let fd):
            guard FileDescriptor.isPipe(fd) || FileDescriptor.isConnectedStream(fd) else {
                return try CurlSending(pump: CurlPump([.input(fd)]), length: nil)
            }
            return CurlSending(body: .descriptor(offset: 0, length: nil), borrowed: fd)
        }
    }

    /// Bytes that fit a line go with the call, others in memory that is shared.
    private static func sending(_ bytes: [UInt8]) throws(CurlError) -> CurlSending {
        if bytes.count <= CurlExchange.maximumInlineBytes { return CurlSending(body: .bytes(bytes)) }
        do throws(SystemError) {
            let memory = try FileDescriptor.sealed(bytes)
            return CurlSending(body: .descriptor(offset: 0, length: Int64(bytes.count)), owned: memory)
        } catch {
            throw CurlError(CurlExitCode.outOfMemory)
        }
    }

    private static func sending(_ form: CurlForm) throws(CurlError) -> CurlSending {
        var bytes: [UInt8] = []
        var isInMemory = true
        for segment in form.segments {
            if case .bytes(let piece) = segment { bytes += piece } else { isInMemory = false }
        }
        if isInMemory { return try sending(bytes) }
        if let sending = try CurlSending(form) { return sending }
        return try CurlSending(
            pump: CurlPump(
                form.segments.map { segment in
                    switch segment {
                    case .bytes(let bytes): .bytes(bytes)
                    case .file(let path, _): .file(path)
                    case .standardInput: .input(STDIN_FILENO)
                    }
                }), length: form.length)
    }
}

/// An open file.
final class CurlOpenFile {
    let descriptor: FileDescriptor

    init(_ path: String) throws(CurlError) {
        do throws(SystemError) {
            descriptor = try NamedPath.open(path, O_RDONLY)
        } catch {
            var error = CurlError(CurlExitCode.readError)
            error.usage = "cannot open '\(path)'"
            throw error
        }
    }

    /// A file in memory with these bytes.
    init(_ bytes: [UInt8]) throws(CurlError) {
        do throws(SystemError) {
            descriptor = try FileDescriptor.sealed(bytes)
        } catch {
            throw CurlError(CurlExitCode.outOfMemory)
        }
    }
}

/// A body that is being sent with one call.
final class CurlSending {
    let body: CurlExchange.Body
    /// The descriptors that go with the call.
    private(set) var descriptors: PassedDescriptors
    private let owned: FileDescriptor?
    /// Keeps the files of a form open.
    private var files: [CurlOpenFile] = []
    /// Writes the body into a pipe; `nil` if the daemon reads it from where it is.
    private(set) var pump: CurlPump?

    init(body: CurlExchange.Body, borrowed: Int32 = -1) {
        self.body = body
        descriptors = borrowed < 0 ? .none : PassedDescriptors(borrowed)
        owned = nil
    }

    /// Longer bytes go in memory that is shared.
    private static let maximumPieceBytes = 4_096

    /// A form whose pieces the daemon can read again; `nil` if one of them is no regular file, or there are too many.
    init?(_ form: CurlForm) throws(CurlError) {
        var pieces: [CurlExchange.Piece] = []
        var passed = PassedDescriptors.none
        var files: [CurlOpenFile] = []
        for segment in form.segments {
            switch segment {
            case .bytes(let bytes) where bytes.count <= CurlSending.maximumPieceBytes: pieces.append(.bytes(bytes))
            case .bytes(let bytes):
                let file = try CurlOpenFile(bytes)
                files.append(file)
                guard passed.append(file.descriptor.raw) else { return nil }
                pieces.append(.file(offset: 0, length: Int64(bytes.count)))
            case .file(let path, let length):
                guard let length else { return nil }
                let file = try CurlOpenFile(path)
                files.append(file)
                guard passed.append(file.descriptor.raw) else { return nil }
                pieces.append(.file(offset: 0, length: length))
            case .standardInput(let length):
                guard passed.append(STDIN_FILENO) else { return nil }
                let offset = max(0, Int64(lseek(STDIN_FILENO, 0, SEEK_CUR)))
                pieces.append(.file(offset: offset, length: length))
            }
        }
        let bytes = pieces.reduce(0) { if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 } }
        guard bytes <= CurlExchange.maximumInlineBytes, pieces.count <= CurlExchange.maximumPieces else { return nil }
        body = .pieces(pieces)
        descriptors = passed
        owned = nil
        self.files = files
    }

    init(body: CurlExchange.Body, owned: consuming FileDescriptor) {
        self.body = body
        descriptors = PassedDescriptors(owned.raw)
        self.owned = consume owned
    }

    /// A body that comes through a pipe.
    init(pump: CurlPump, length: Int64?) throws(CurlError) {
        do throws(SystemError) {
            let ends = try FileDescriptor.pipe()
            body = .descriptor(offset: 0, length: length)
            descriptors = PassedDescriptors(ends.read)
            owned = FileDescriptor(owning: ends.read)
            pump.open(ends.write)
            self.pump = pump
        } catch {
            throw CurlError(CurlExitCode.outOfMemory)
        }
    }
}
