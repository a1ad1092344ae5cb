/// The bytes of `-d` and its relatives, and the URLs that carry such bytes.
enum CurlBody {
    /// The body of a POST: the pieces with `&` before each but the first and those of `--json`. Files and standard
    /// input are read now, in the order of the pieces; the whole is at most ``CurlFile/maximumBytes``.
    static func data(
        _ pieces: [CurlRequestOptions.Data], standardInput: Int32 = 0
    ) throws(CurlError) -> [UInt8] {
        var body: [UInt8] = []
        for piece in pieces {
            if !body.isEmpty, !piece.isJoined { body.append(UInt8(ascii: "&")) }
            body += try bytes(piece, standardInput)
            guard body.count <= CurlFile.maximumBytes else {
                throw CurlError(
                    exitCode: CurlExitCode.readError,
                    message: "The body is larger than \(CurlFile.maximumBytes) bytes: send it with -T", form: .plain)
            }
        }
        return body
    }

    /// The query of `--url-query`: the pieces joined by `&`.
    static func query(
        _ pieces: [CurlRequestOptions.Data], standardInput: Int32 = 0
    ) throws(CurlError) -> String? {
        pieces.isEmpty ? nil : try text(data(pieces, standardInput: standardInput))
    }

    /// The query that `-G` makes of the data.
    static func query(ofData request: CurlRequestOptions, standardInput: Int32 = 0) throws(CurlError) -> String? {
        guard request.isGet, !request.data.isEmpty else { return nil }
        return try text(data(request.data, standardInput: standardInput))
    }

    /// A URL with a query, which is that of `-G` if there is one and else that of `--url-query`. `nil` changes nothing.
    static func url(_ url: String, query: String?) throws(CurlError) -> String {
        guard let query else { return url }
        do throws(CurlURLError) {
            var parsed = try CurlURL(url, .guessesScheme)
            parsed.append(query: query)
            return parsed.text
        } catch {
            throw CurlError(
                exitCode: error.exitCode,
                message: "(\(error.exitCode)) Could not parse the URL, failed to set query", form: .plain)
        }
    }

    /// A URL for `-T FILE`: one that ends with a slash gets the name of the file. The others stay as they are.
    static func url(_ url: String, upload path: String) throws(CurlError) -> String {
        if path == "-" || path == "." { return url }
        do throws(CurlURLError) {
            var parsed = try CurlURL(url, [.guessesScheme, .allowsAllSchemes])
            guard parsed.query?.isEmpty ?? true, parsed.pathOrRoot.utf8.last == UInt8(ascii: "/") else { return url }
            let bytes = Array(path.utf8)
            let slash = bytes.lastIndex { $0 == UInt8(ascii: "/") }
            let name = bytes[(slash.map { $0 + 1 } ?? 0)...]
            let backslash = name.lastIndex { $0 == UInt8(ascii: "\\") }
            let encoded = CurlPercent.encode(name[(backslash.map { $0 + 1 } ?? name.startIndex)...])
            parsed.path = CurlURL.withSmallEscapes(parsed.pathOrRoot + encoded.text)
            return parsed.text
        } catch {
            throw CurlError(error.exitCode)
        }
    }

    private static func bytes(
        _ piece: CurlRequestOptions.Data, _ standardInput: Int32
    ) throws(CurlError) -> [UInt8] {
        switch piece {
        case .text(let text): return Array(text.utf8)
        case .file(let path, let stripsLineEnds):
            return stripsLineEnds
                ? try CurlFile.readText(path, standardInput: standardInput)
                : try CurlFile.read(path, standardInput: standardInput)
        case .encoded(let name, let value): return encoded(name, Array(value.utf8))
        case .encodedFile(let name, let path):
            let content = try CurlFile.read(path, standardInput: standardInput)
            // Of an empty file curl sends not even the name.
            return content.isEmpty ? [] : encoded(name, content)
        case .joined(let piece): return try bytes(piece, standardInput)
        }
    }

    private static func encoded(_ name: String, _ value: [UInt8]) -> [UInt8] {
        name.isEmpty
            ? CurlPercent.encodeForm(value)
            : Array(name.utf8) + [UInt8(ascii: "=")]
                + CurlPercent.encodeForm(value)
    }

    /// A query ends at a NUL byte, as in curl.
    private static func text(_ bytes: [UInt8]) throws(CurlError) -> String {
        guard let text = String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self) else {
            throw CurlError(
                exitCode: CurlExitCode.malformedURL, message: "The data for the query is not UTF-8", form: .plain)
        }
        return text
    }
}

extension CurlRequestOptions.Data {
    fileprivate var isJoined: Bool { if case .joined = self { true } else { false } }
}
