// Compressed files that a server sends with the name of their format as their coding.
extension ContentCoding {
    /// The names of the files that a coding makes, and their media types.
    private static let files: [(coding: ContentCoding, suffixes: [String], types: [String])] = [
        (
            .gzip, [".gz", ".tgz"],
            [
                "application/gzip", "application/gzip-compressed", "application/gzipped", "application/x-gunzip",
                "application/x-gzip", "application/x-gzip-compressed", "application/x-compressed-tar",
                "application/x-tgz",
            ]
        ),
        (.brotli, [".br", ".tbr"], ["application/x-brotli"]),
        (.zstd, [".zst", ".tzst"], ["application/zstd", "application/x-zstd"]),
    ]

    /// Whether the coding of a body is that of a file, such as `a.tar.gz` with `Content-Encoding: gzip`: servers that
    /// name the format of a file so mean the file as it is, and browsers and wget store it so. The media type, the name
    /// of `Content-Disposition` and the last segment of the URL say what the file is.
    public static func isOfFile(_ fields: FieldBlock, _ url: HTTPURL) -> Bool {
        guard let value = fields.first("content-encoding"), fields.all("content-encoding").count == 1,
            let coding = ContentCoding(HTTPField.trimmed(value).lowercased()),
            let file = files.first(where: { $0.coding == coding })
        else { return false }
        let type = (fields.first("content-type") ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
        if file.types.contains(type) { return true }
        let path = url.requestTarget.prefix { $0 != "?" }.lowercased()
        let name = (fields.first("content-disposition") ?? "").lowercased().split(separator: ";").last { part in
            part.drop { $0 == " " }.hasPrefix("filename")
        }
        let names = [path] + [name.map { $0.filter { $0 != "\"" && $0 != " " } }].compactMap { $0 }
        return names.contains { name in file.suffixes.contains { name.hasSuffix($0) } }
    }
}

extension TransportRequest {
    /// Whether a body with these fields is decoded, if its codings are known.
    public func decodes(_ head: FieldBlock) -> Bool {
        (isDecoded || decodesUnasked) && !(keepsFiles && ContentCoding.isOfFile(head, url))
    }
}
