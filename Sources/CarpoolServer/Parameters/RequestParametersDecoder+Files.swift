internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

// The body that a call sends, and the files that it names.
extension RequestParametersDecoder {
    /// The kind of the request. Without `kind`, streamed, multipart, fd and callback bodies default to `.upload`.
    static func kind(_ params: Params) -> RequestKind {
        if let kind = params[.kind].flatMap(RequestKind.init(rawValue:)) { return kind }
        guard let body = params[.body] else { return .data }
        let uploadMembers: [StaticString] = ["stream", "multipart", "fd", "pieces", "callback"]
        return uploadMembers.contains { body["\($0)"] != nil } ? .upload : .data
    }

    func readBody(
        _ json: JSON, _ parts: ParsedParts?, into parameters: inout RequestParameters
    ) throws(RPCError) {
        if json["stream"] != nil {
            parameters.body = .source(BodyFeed(lengthBytes: json["length_bytes"]?.integer))
        } else if json["multipart"] != nil {
            parameters.uploadable = try multipart(json)
        } else if json["fd"] != nil {
            parameters.body = try descriptor(json)
        } else if let pieces = json["pieces"] {
            parameters.body = try body(ofPieces: pieces)
        } else if let callback = json["callback"] {
            parameters.uploadable = try callbacks.uploadable(
                callback, mayOpenFiles: client.uid == owner, path: "params.body.callback")
        } else if let bytes = try RequestParametersDecoder.bytes(json, parts, path: "params.body") {
            parameters.body = .bytes(bytes)
            if json["json"] != nil { RequestParametersDecoder.addJSONContentType(to: &parameters) }
        } else {
            parameters.body = try file(json)
        }
    }

    private static func bytes(_ json: JSON, _ parts: ParsedParts?, path: String) throws(RPCError) -> [UInt8]? {
        if let parts { return try parts.body.get() }
        return try bytes(json, path: path)
    }

    /// Bytes that stand in the call itself.
    static func bytes(_ json: JSON, path: String) throws(RPCError) -> [UInt8]? {
        if let text = json["text"]?.withUTF8({ Array($0) }) { return text }
        if let value = json["json"] {
            var writer = JSONWriter()
            writer.value(value)
            return writer.bytes
        }
        guard let base64 = json["base64"] else { return nil }
        return try Base64Text.decode(base64, at: "\(path).base64")
    }

    private func file(_ json: JSON) throws(RPCError) -> RequestBody {
        let path = json["file"]?.string ?? ""
        let offset = json["offset"]?.integer ?? 0
        let file = try open(path, at: "params.body.file")
        let (real, size) = (file.path, file.size)
        guard offset <= size else {
            throw .invalidParams(
                path: "params.body.offset", message: "the file has only \(size) bytes", expected: "0 to \(size)")
        }
        let length = json["length_bytes"]?.integer ?? size - offset
        guard length <= size - offset else {
            throw .invalidParams(
                path: "params.body.length_bytes", message: "the file has only \(size - offset) bytes from there",
                expected: "0 to \(size - offset)")
        }
        return .file(
            BodyFile(file.file, path: real, sizeBytes: size, worker: worker), offset: offset, length: length)
    }

    /// The authorities and evaluators of `trust`.
    func trust(_ json: JSON, path: String) throws(RPCError) -> (trust: ServerTrust, manager: ServerTrustManager?) {
        let reader = TrustReader(callbacks: callbacks, files: files) { (path, place) throws(RPCError) in
            try checkPath(path, at: place)
        }
        return try reader.trust(json, path: path)
    }

    /// A regular file of a caller who is the daemon's own user; others would read with the daemon's rights.
    private func open(_ path: String, at place: String) throws(RPCError) -> NamedFile {
        try checkPath(path, at: place)
        switch files.opened[place] {
        case .success(let file)?: return file
        case .failure(let failure)?: throw .cannotOpen(failure, path: path)
        case nil: throw .notOpened(path)
        }
    }

    func checkPath(_ path: String, at place: String) throws(RPCError) {
        try files.access(or: client.pathAccess).check(path)
        try AbsolutePath.check(path, at: place)
    }
}
