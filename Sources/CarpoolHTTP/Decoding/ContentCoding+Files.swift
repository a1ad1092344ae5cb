// Compressed files that a server sends with the name of their format as their coding.
extension ContentCoding {
    /// The names of the files that a coding makes, and their media types.
    private static let files: [(coding: ContentCoding, suffixes: [StaticString], types: [StaticString])] = [
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
        guard fields.has("content-encoding"), let tokens = tokens(in: fields), tokens.count == 1,
            let coding = ContentCoding(tokens[0]), let file = files.first(where: { $0.coding == coding })
        else { return false }
        var isFile = false
        fields.forEach("content-type") { value in
            let end = value.firstIndex { $0 == UInt8(ascii: ";") || isBlank($0) } ?? value.endIndex
            let type = UnsafeRawBufferPointer(rebasing: value[..<end])
            isFile = file.types.contains { FieldName.matches(type, $0) }
            return false
        }
        guard !isFile else { return true }
        fields.forEach("content-disposition") { value in
            isFile = value.count <= maximumDispositionBytes && names(value, file.suffixes)
            return false
        }
        guard !isFile else { return true }
        var target = url.requestTarget
        return target.withUTF8 { bytes in
            let path = bytes[..<(bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex)]
            return hasSuffix(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: path)), file.suffixes)
        }
    }

    /// The most bytes of a `Content-Disposition` that is read for this: an origin may send a head of 300,000.
    private static let maximumDispositionBytes = 4_096

    /// Whether the last name in a `Content-Disposition` has one of the suffixes.
    private static func names(_ disposition: UnsafeRawBufferPointer, _ suffixes: [StaticString]) -> Bool {
        let parameter = disposition.split(separator: UInt8(ascii: ";")).lazy.map { $0.drop(while: isBlank) }.last {
            part in
            FieldName.matches(UnsafeRawBufferPointer(rebasing: part.prefix(8)), "filename")
        }
        guard let parameter else { return false }
        let end = parameter.lastIndex { $0 != UInt8(ascii: "\"") && !isBlank($0) } ?? parameter.startIndex
        return hasSuffix(UnsafeRawBufferPointer(rebasing: parameter[...end]), suffixes)
    }

    private static func hasSuffix(_ name: UnsafeRawBufferPointer, _ suffixes: [StaticString]) -> Bool {
        suffixes.contains { FieldName.matches(UnsafeRawBufferPointer(rebasing: name.suffix($0.utf8CodeUnitCount)), $0) }
    }
}
