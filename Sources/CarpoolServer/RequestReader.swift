internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// Makes the session's parameters from a call's: what the schema cannot check is checked here, and every refusal names its place, before
/// anything has happened.
struct RequestReader {
    let client: any Client
    let owner: UInt32

    func parameters(_ params: Params) throws(RPCError) -> RequestParameters {
        var parameters = RequestParameters(url: params["url"]?.string ?? "")
        if let method = params["method"]?.string {
            parameters.method = try RequestReader.method(method, path: "params.method")
        }
        if let headers = params["headers"] {
            parameters.fields = try RequestReader.fields(headers, path: "params.headers")
        }
        if let body = params["body"] { parameters.body = try self.body(body) }
        if let trust = params["trust"] { parameters.trust = try self.trust(trust, path: "params.trust") }
        if let redirect = params["redirect"] { parameters.redirect = RequestReader.redirect(redirect) }
        parameters.httpVersion = params["http_version"]?.string.flatMap(HTTPVersionPolicy.init(rawValue:))
        parameters.idleTimeoutMilliseconds = params["timeout_ms"]?.int
        parameters.resourceTimeoutMilliseconds = params["resource_timeout_ms"]?.int
        parameters.connectTimeoutMilliseconds = params["connect_timeout_ms"]?.int
        parameters.decodesContent = params["decode"]?.bool
        parameters.maximumDecodingRatio = params["max_ratio"]?.int
        parameters.memoryLimitBytes = params["response_body"]?.string == "file" ? 0 : client.inlineBodyBytes
        try checkHost(of: parameters)
        return parameters
    }

    /// Labels, as JSON; their names are as short as the schema wants the values to be.
    func tags(_ json: JSON?) throws(RPCError) -> [UInt8]? {
        guard let json else { return nil }
        try json.forEachMember { (name: String, _: JSON) throws(RPCError) in
            guard name.utf8.count > RequestReader.tagNameBytes else { return }
            throw .invalidParams(
                path: "params.tags", message: "a name has \(name.utf8.count) bytes",
                expected: "names of at most \(RequestReader.tagNameBytes) bytes")
        }
        var writer = JSONWriter()
        writer.value(json)
        return writer.bytes
    }

    private static let tagNameBytes = 128

    /// The configuration of a session; the same members mean the same.
    func configuration(_ json: JSON?) throws(RPCError) -> SessionConfiguration {
        var configuration = SessionConfiguration()
        guard let json else { return configuration }
        let path = "params.configuration"
        if let headers = json["headers"] {
            configuration.fields = try RequestReader.fields(headers, path: "\(path).headers")
        }
        if let trust = json["trust"] { configuration.trust = try self.trust(trust, path: "\(path).trust") }
        if let redirect = json["redirect"] { configuration.redirect = RequestReader.redirect(redirect) }
        if let version = json["http_version"]?.string.flatMap(HTTPVersionPolicy.init(rawValue:)) {
            configuration.httpVersion = version
        }
        if let value = json["timeout_ms"]?.int { configuration.idleTimeoutMilliseconds = value }
        if let value = json["resource_timeout_ms"]?.int { configuration.resourceTimeoutMilliseconds = value }
        if let value = json["connect_timeout_ms"]?.int { configuration.connectTimeoutMilliseconds = value }
        if let value = json["decode"]?.bool { configuration.decodesContent = value }
        if let value = json["max_ratio"]?.int { configuration.maximumDecodingRatio = value }
        return configuration
    }

    static func method(_ text: String, path: String) throws(RPCError) -> HTTPMethod {
        switch text {
        case "GET": return .get
        case "POST": return .post
        case "HEAD": return .head
        default:
            guard let method = HTTPMethod(text) else {
                throw .invalidParams(
                    path: path, message: "not a request method: \(text.prefix(64).debugDescription)",
                    expected: "a token of RFC 9110 other than CONNECT, such as GET, POST or PROPFIND")
            }
            return method
        }
    }

    /// Fields from an object, whose values are strings or lists of strings, or from an ordered list of pairs.
    static func fields(_ headers: JSON, path: String) throws(RPCError) -> [HTTPField] {
        var fields: [HTTPField] = []
        if headers.kind == .array {
            for i in 0..<headers.count {
                guard let pair = headers[index: i], let name = pair[index: 0]?.string,
                    let value = pair[index: 1]?.string
                else { continue }
                fields.append(try field(name, value, path: "\(path)[\(i)]"))
            }
            return fields
        }
        try headers.forEachMember { (name: String, value: JSON) throws(RPCError) in
            if let value = value.string { return fields.append(try field(name, value, path: "\(path).\(name)")) }
            for i in 0..<value.count {
                guard let value = value[index: i]?.string else { continue }
                fields.append(try field(name, value, path: "\(path).\(name)[\(i)]"))
            }
        }
        return fields
    }

    private static func field(_ name: String, _ value: String, path: String) throws(RPCError) -> HTTPField {
        do throws(HTTPField.Refusal) {
            return try HTTPField(name: name, value: value)
        } catch {
            throw .invalidParams(
                path: path, message: error.description, expected: "a header field that the client may send")
        }
    }

    /// `Host` is the transport's, but a client may repeat it: a different one would reach another site over a connection that others share.
    private func checkHost(of parameters: RequestParameters) throws(RPCError) {
        guard let host = parameters.fields.first(where: { $0.hasName("host") }) else { return }
        guard let url = try? HTTPURL(parameters.url) else { return }
        let origin = url.origin
        let whole = "\(origin.host):\(origin.port)"
        let isDefault = origin.port == (origin.scheme == "https" ? 443 : 80)
        let authority = isDefault ? origin.host : whole
        guard host.value.lowercased() == authority || host.value.lowercased() == whole else {
            throw .invalidParams(
                path: "params.headers",
                message: "Host is \(host.value.debugDescription), but the URL's authority is \(authority)",
                expected: "the URL's authority, or no Host at all")
        }
    }

    private static func redirect(_ json: JSON) -> RedirectHandler {
        if let text = json.string { return text == "do_not_follow" ? .doNotFollow : .follow }
        var handler = RedirectHandler.follow
        if let value = json["max_hops"]?.int { handler.maximumHops = value }
        return handler
    }

    // MARK: Bodies and files

    private func body(_ json: JSON) throws(RPCError) -> RequestBody {
        if let text = json["text"]?.withUTF8({ Array($0) }) { return .bytes(text) }
        if let value = json["json"] {
            var writer = JSONWriter()
            writer.value(value)
            return .bytes(writer.bytes)
        }
        if let base64 = json["base64"] {
            do throws(JSONError) {
                return .bytes(try base64.withUTF8 { (text) throws(JSONError) in try Base64.decode(text) } ?? [])
            } catch {
                throw .invalidParams(
                    path: "params.body.base64", message: error.message,
                    expected: "base64 with padding (RFC 4648, section 4)")
            }
        }
        return try file(json)
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
        return .file(BodyFile(file.descriptor, path: real, sizeBytes: size), offset: offset, length: length)
    }

    private func trust(_ json: JSON, path: String) throws(RPCError) -> ConnectionPartition.Trust {
        if json.string != nil { return .system }
        if json["verify"]?.bool == false { return .none }
        guard let file = json["ca_file"]?.string else { return .system }
        let opened = try open(file, at: "\(path).ca_file")
        return .authorities(path: opened.path, digest: opened.version)
    }

    /// A regular file of a caller who is the daemon's own user; whoever else asks would read with the daemon's rights.
    private func open(_ path: String, at place: String) throws(RPCError) -> CallerFile {
        guard client.uid == owner else { throw .notOwner(path: path) }
        guard path.hasPrefix("/") else {
            throw .invalidParams(
                path: place, message: "the path is relative: \(path.prefix(200))", expected: "an absolute path")
        }
        do throws(SystemError) {
            return try CallerFile.open(path)
        } catch {
            throw .cannotOpen(path: path, errno: Int(error.code), reason: error.reason)
        }
    }
}

/// A file that a caller named: symbolic links are resolved first, and what they lead to is opened without following any more.
struct CallerFile: ~Copyable {
    let path: String
    let size: Int64
    /// Differs when the content may have changed: from inode, size and time of change.
    let version: UInt64
    let descriptor: FileDescriptor

    static func open(_ path: String) throws(SystemError) -> CallerFile {
        guard let resolved = realpath(path, nil) else { throw .last("realpath", path) }
        defer { free(resolved) }
        let real = String(cString: resolved)
        // Without O_NONBLOCK a FIFO would hold the loop until somebody writes to it.
        let descriptor = try FileDescriptor.open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else { throw .last("fstat", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(
                code: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL, operation: "open", subject: path)
        }
        var version = StableHash()
        for part in [status.st_ino, UInt(bitPattern: status.st_size)] { version.combine(UInt64(part)) }
        for part in [status.st_mtim.tv_sec, status.st_mtim.tv_nsec] { version.combine(UInt64(UInt(bitPattern: part))) }
        return CallerFile(path: real, size: Int64(status.st_size), version: version.value, descriptor: descriptor)
    }
}
