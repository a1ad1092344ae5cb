internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession
internal import CarpoolSystem

/// Has a client give the body of a request when it is about to be sent, and again whenever it is needed again (UP-05).
final class CallbackUpload: Uploadable {
    private let callback: ClientCallback
    /// Whether the client may name files: only if it is the daemon's own user.
    private let mayOpenFiles: Bool

    init(_ callback: ClientCallback, mayOpenFiles: Bool) {
        self.callback = callback
        self.mayOpenFiles = mayOpenFiles
    }

    var canRepeat: Bool { true }
    var contentType: String? { nil }

    func makeBody(
        for request: Request, completion: @escaping (Result<CreatedUpload, SessionError>) -> Void
    ) {
        let (callback, mayOpenFiles) = (callback, mayOpenFiles)
        let proposed = request.urlRequest
        callback.ask("callback.body", about: request) { writer, detail in
            guard let proposed else { return }
            writer.key("url_request")
            CallbackBody.write(proposed, detail, to: &writer)
        } read: { (answer) throws(JSONError) -> Result<RequestBody, SessionError> in
            if let refusal = callback.refusal(in: answer) { return .failure(refusal) }
            return .success(try CallbackUpload.body(answer, mayOpenFiles && callback.broker.answererAccess == .granted))
        } completion: { result in
            completion(result.flatMap { $0 }.map { CreatedUpload($0) })
        }
    }

    private static func body(_ json: JSON, _ mayOpenFiles: Bool) throws(JSONError) -> RequestBody {
        if json["stream"] != nil { return .source(BodyFeed(lengthBytes: json["length_bytes"]?.integer)) }
        if let text = json["text"]?.withUTF8({ Array($0) }) { return .bytes(text) }
        if let base64 = json["base64"] { return .bytes(try Base64Text.decode(base64, path: "result.base64")) }
        guard let path = json["file"]?.string else {
            var writer = JSONWriter()
            if let value = json["json"] { writer.value(value) }
            return .bytes(writer.bytes)
        }
        return try file(path, json, mayOpenFiles)
    }

    private static func file(_ path: String, _ json: JSON, _ mayOpenFiles: Bool) throws(JSONError) -> RequestBody {
        guard mayOpenFiles, path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw .refused("may not be opened", path: "result.file", expected: "an absolute path of the daemon's user")
        }
        let file: CallerFile
        do throws(SystemError) {
            file = try CallerFile.open(path)
        } catch {
            throw .refused(error.reason, path: "result.file", expected: "a regular file")
        }
        let (real, size) = (file.path, file.size)
        let (offset, length) = (json["offset"]?.integer ?? 0, json["length_bytes"]?.integer)
        guard offset <= size, length ?? 0 <= size - offset else {
            throw .refused(
                "the file has only \(size) bytes", path: "result.file", expected: "offset and length_bytes within them")
        }
        let body = BodyFile(file.descriptor, path: real, sizeBytes: size)
        return .file(body, offset: offset, length: length ?? size - offset)
    }
}
