internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

// What a call sends, and the files that it names.
extension RequestReader {
    func body(_ json: JSON) throws(RPCError) -> RequestBody {
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

    func trust(_ json: JSON, path: String) throws(RPCError) -> ConnectionPartition.Trust {
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
