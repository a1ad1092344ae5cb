internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession
internal import CarpoolSystem

/// Asks a client for the body of a request, each time that the body is sent (UP-05).
final class CallbackUpload: Uploadable {
    private let callback: CallbackEndpoint
    /// Whether the client may name files: only if it is the daemon's own user.
    private let mayOpenFiles: Bool
    /// Opens them.
    private let worker: WorkerAccess

    /// A body as the client has answered it.
    private enum Answered {
        case body(RequestBody)
        case file(path: String, offset: Int64, length: Int64?)
    }

    init(_ callback: CallbackEndpoint, mayOpenFiles: Bool, worker: WorkerAccess) {
        self.callback = callback
        self.mayOpenFiles = mayOpenFiles
        self.worker = worker
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
            CallbackBody.write(proposed, of: request, detail, to: &writer)
        } read: { (answer) throws(JSONError) -> Result<Answered, SessionError> in
            if let refusal = callback.refusal(in: answer) { return .failure(refusal) }
            return .success(try CallbackUpload.body(answer, mayOpenFiles && callback.broker.answererAccess == .granted))
        } completion: { [self] result in
            switch result.flatMap({ $0 }) {
            case .failure(let error): completion(.failure(error))
            case .success(.body(let body)): completion(.success(CreatedUpload(body)))
            case .success(.file(let path, let offset, let length)):
                open(path, offset, length) { completion($0.map { CreatedUpload($0) }) }
            }
        }
    }

    private static func body(_ json: JSON, _ mayOpenFiles: Bool) throws(JSONError) -> Answered {
        if json["stream"] != nil { return .body(.source(BodyFeed(lengthBytes: json["length_bytes"]?.integer))) }
        if let text = json["text"]?.withUTF8({ Array($0) }) { return .body(.bytes(text)) }
        if let base64 = json["base64"] { return .body(.bytes(try Base64Text.decode(base64, path: "result.base64"))) }
        guard let path = json["file"]?.string else {
            var writer = JSONWriter()
            if let value = json["json"] { writer.value(value) }
            return .body(.bytes(writer.bytes))
        }
        guard mayOpenFiles, AbsolutePath.isOne(path) else {
            throw .refused(
                "may not be opened", path: "result.file",
                expected: "text, base64, json or stream; or an absolute path, from a client of the daemon's own user")
        }
        return .file(path: path, offset: json["offset"]?.integer ?? 0, length: json["length_bytes"]?.integer)
    }

    // MARK: Files

    private func open(
        _ path: String, _ offset: Int64, _ length: Int64?,
        completion: @escaping (Result<RequestBody, SessionError>) -> Void
    ) {
        let closer = worker.closer
        let opening = { @Sendable () -> CallFiles.Opening in
            do throws(RegularFile.Failure) {
                return .success(try NamedFile.open(path, closer: closer))
            } catch {
                return .failure(error)
            }
        }
        do throws(WorkerError) {
            try worker.run(opening) { [self] opened in
                do throws(JSONError) {
                    completion(.success(try body(opened, offset, length)))
                } catch {
                    completion(.failure(failure(error.description)))
                }
            }
        } catch {
            completion(.failure(failure(error.description)))
        }
    }

    private func body(
        _ opened: CallFiles.Opening, _ offset: Int64, _ length: Int64?
    ) throws(JSONError) -> RequestBody {
        let file: NamedFile
        switch opened {
        case .success(let named): file = named
        case .failure(let failure):
            throw .refused(failure.reason.reason, path: "result.file", expected: "a regular file")
        }
        guard offset <= file.size, length ?? 0 <= file.size - offset else {
            throw .refused(
                "the file has only \(file.size) bytes", path: "result.file",
                expected: "offset and length_bytes within them")
        }
        let body = BodyFile(file.file, path: file.path, sizeBytes: file.size, worker: worker)
        return .file(body, offset: offset, length: length ?? file.size - offset)
    }

    private func failure(_ message: String) -> SessionError {
        .callbackFailed(callback.specification.name, .invalidAnswer, message: message)
    }
}
