internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

// Descriptors that were passed with a call. Every client may pass one, since it has opened it itself.
extension RequestParametersDecoder {
    /// A body that is read from a descriptor: a regular file at any place, a pipe or a socket as it comes.
    func descriptor(_ json: JSON) throws(RPCError) -> RequestBody {
        let length = json["length_bytes"]?.integer
        switch try open(json, path: "params.body") {
        case .file(let file, let size):
            let offset = json["offset"]?.integer ?? 0
            return .file(
                file, offset: offset, length: try RequestParametersDecoder.length(length, from: offset, of: size))
        case .stream(let descriptor, let isSocket, _):
            guard json["offset"] == nil else {
                throw .invalidParams(
                    path: "params.body.offset", message: "a pipe or a socket is read as it comes",
                    expected: "no offset")
            }
            return .source(
                DescriptorSource(
                    descriptor, isSocket: isSocket, lengthBytes: length, loop: scheduler, worker: worker))
        }
    }

    /// A body of bytes and regular files.
    func body(ofPieces json: JSON) throws(RPCError) -> RequestBody {
        var segments: [BodySegment] = []
        for index in 0..<json.count {
            guard let piece = json[index: index] else { continue }
            let path = "params.body.pieces[\(index)]"
            if let bytes = try RequestParametersDecoder.bytes(piece, path: path) {
                segments.append(.bytes(bytes))
                continue
            }
            guard case .file(let file, let size) = try open(piece, path: path) else {
                throw .invalidParams(
                    path: "\(path).fd", message: "a pipe or a socket is read once, as it comes",
                    expected: "a regular file; or the pipe as the only body, in params.body.fd")
            }
            let offset = piece["offset"]?.integer ?? 0
            let length = try RequestParametersDecoder.length(piece["length_bytes"]?.integer, from: offset, of: size)
            segments.append(.file(file, offset: offset, length: length))
        }
        return .segments(segments)
    }

    /// A part of a form that is read from a descriptor. Its length is part of the form's, so the caller must set that
    /// of a pipe.
    func descriptorContent(_ json: JSON, path: String) throws(RPCError) -> MultipartPart.Content {
        let length = json["length_bytes"]?.integer
        switch try open(json, path: path) {
        case .file(let file, let size):
            let offset = json["offset"]?.integer ?? 0
            return .open(
                file, offset: offset, length: try RequestParametersDecoder.length(length, from: offset, of: size))
        case .stream(let descriptor, let isSocket, _):
            guard let length else {
                throw .invalidParams(
                    path: "\(path).length_bytes", message: "the length of a pipe or a socket is unknown",
                    expected: "the length of the part")
            }
            let source = DescriptorSource(
                descriptor, isSocket: isSocket, lengthBytes: length, loop: scheduler, worker: worker)
            return .source(source, length: length)
        }
    }

    /// The descriptor to which the response's body is written.
    func output(_ json: JSON) throws(RPCError) -> DescriptorOutput {
        var settings = DescriptorOutput.Settings(
            inlineBytes: json["inline_bytes"]?.int ?? 0, writesHeads: json["heads"]?.bool ?? false,
            keepsTransferCoding: json["transfer_coding"]?.bool ?? false)
        settings.writesConnectHeads = json["connect_heads"]?.bool ?? false
        if json["fd"]?.isString("on_demand") == true {
            return DescriptorOutput(nil, settings, loop: scheduler, worker: worker)
        }
        let target = try target(at: json["fd"]?.int ?? 0, path: "params.response_body")
        return DescriptorOutput(target, settings, loop: scheduler, worker: worker)
    }

    /// A passed descriptor that can be written to.
    func target(at index: Int, path: String) throws(RPCError) -> PassedOutput {
        switch try claim(index, path: path) {
        case .output(let file, let kind): return PassedOutput(file, kind)
        case .unusable(let refusal): throw refusal.error(at: index)
        case .refused(let code): throw RequestParametersDecoder.refusal(index, code)
        case .file, .stream, .otherSocket:
            throw .invalidParams(
                path: "\(path).fd", message: "the descriptor \(index) is used already",
                expected: "a descriptor of its own")
        }
    }

    /// The Unix socket of `addresses`. A path is for those who see the same files; every client may pass a socket.
    func unixSocket(_ addresses: JSON, path: String, mayBePassed: Bool) throws(RPCError) -> UnixSocketOrigin? {
        guard let json = addresses["unix_socket"] else { return nil }
        let path = "\(path).unix_socket"
        if let socket = json.string {
            try checkPath(socket, at: path)
            return .path(socket)
        }
        guard mayBePassed else {
            throw .invalidParams(
                path: "\(path).fd", message: "a passed socket is one connection, and a session makes several",
                expected: "a path, or the socket in a request")
        }
        guard case .stream(let descriptor, true, let isConnected) = try open(json, path: path) else {
            throw .invalidParams(
                path: "\(path).fd", message: "not a socket", expected: "a connected stream socket")
        }
        // Before its mode is changed, which the caller would see.
        guard isConnected else {
            throw .invalidParams(
                path: "\(path).fd", message: "a socket of messages, or one that listens or is not connected",
                expected: "a connected stream socket")
        }
        return .connected(ConnectedSocket(descriptor, worker: worker))
    }

    private enum Opened {
        case file(BodyFile, size: Int64)
        case stream(WorkerFile, isSocket: Bool, isConnected: Bool)
    }

    private func open(_ json: JSON, path: String) throws(RPCError) -> Opened {
        let index = json["fd"]?.int ?? 0
        switch try claim(index, path: path) {
        case .file(let file, let size, let isInMemory):
            return .file(BodyFile(file, sizeBytes: size, worker: isInMemory ? nil : worker), size: size)
        case .stream(let descriptor, let isSocket, let isConnected):
            return .stream(descriptor, isSocket: isSocket, isConnected: isConnected)
        case .otherSocket(let family): throw RequestParametersDecoder.refusal(ofFamily: family, path: path)
        case .refused(let code): throw RequestParametersDecoder.refusal(index, code)
        case .output, .unusable:
            throw .invalidParams(
                path: "\(path).fd", message: "the response's body is written to the descriptor \(index)",
                expected: "a descriptor of its own")
        }
    }

    private func claim(_ index: Int, path: String) throws(RPCError) -> PassedDescriptor {
        if let passed = files.claim(descriptor: index) { return passed }
        throw .invalidParams(
            path: "\(path).fd", message: "no descriptor \(index) came with the line, or it is used already",
            expected: files.descriptorCount == 0
                ? "a line that passes descriptors" : "an index from 0 to \(files.descriptorCount - 1)")
    }

    private static func length(_ length: Int64?, from offset: Int64, of size: Int64) throws(RPCError) -> Int64 {
        guard offset <= size, length ?? 0 <= size - offset else {
            throw .invalidParams(
                path: "params.body", message: "the file has only \(size) bytes",
                expected: "offset and length_bytes within them")
        }
        return length ?? size - offset
    }

    private static func refusal(_ index: Int, _ code: Int32) -> RPCError {
        let error = SystemError(code: code, operation: "read")
        return .cannotOpen(path: "descriptor \(index)", code: code, reason: error.reason)
    }

    /// Refuses a socket of an address family whose poll(2) may wait.
    private static func refusal(ofFamily family: Int32, path: String) -> RPCError {
        var error = RPCError.invalidParams(
            path: "\(path).fd", message: "the descriptor is a socket of address family \(family)",
            expected: "a regular file, a pipe, or a socket of AF_UNIX, AF_INET or AF_INET6")
        error.hint = "copy what comes from the socket into a pipe, and pass that"
        return error
    }
}
