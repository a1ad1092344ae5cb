internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

// Forms.
extension RequestParametersDecoder {
    /// A form; whether its files can be sent is found out when it is made, and is then the request's failure.
    func multipart(_ json: JSON) throws(RPCError) -> MultipartUpload {
        var parts: [MultipartPart] = []
        let list = json["multipart"]
        for index in 0..<(list?.count ?? 0) {
            guard let part = list?[index: index] else { continue }
            parts.append(try self.part(part, path: "params.body.multipart[\(index)]"))
        }
        let boundary = json["boundary"]?.string
        guard boundary.map(MultipartUpload.isBoundary) ?? true else {
            throw .invalidParams(
                path: "params.body.boundary", message: "not a valid boundary in Content-Type",
                expected: "1 to 70 letters, digits and '+_-.")
        }
        return MultipartUpload(
            parts, boundary: boundary,
            memoryBytes: json["memory_bytes"]?.integer ?? MultipartUpload.standardMemoryBytes,
            worker: worker)
    }

    private func part(_ json: JSON, path: String) throws(RPCError) -> MultipartPart {
        var contentType = json["content_type"]?.string
        if let contentType, !contentType.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
            throw .invalidParams(
                path: "\(path).content_type", message: "holds control characters", expected: "a type, such as image/png"
            )
        }
        if json["json"] != nil { contentType = contentType ?? "application/json" }
        return MultipartPart(
            name: json["name"]?.string ?? "", content: try content(json, path: path),
            fileName: json["file_name"]?.string, contentType: contentType)
    }

    private func content(_ json: JSON, path: String) throws(RPCError) -> MultipartPart.Content {
        if let bytes = try RequestParametersDecoder.bytes(json, path: path) { return .bytes(bytes) }
        if json["fd"] != nil { return try descriptorContent(json, path: path) }
        let file = json["file"]?.string ?? ""
        try files.access(or: client.pathAccess).check(file)
        return .file(path: file, offset: json["offset"]?.integer ?? 0, length: json["length_bytes"]?.integer)
    }
}
