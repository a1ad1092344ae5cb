internal import CarpoolSystem

/// The files of `--etag-compare` and `--etag-save`.
enum CurlETag {
    /// The most bytes of a file that is compared; a field of a server is shorter.
    private static let maximumBytes = 102_400

    /// The line of a header for `--etag-compare`: the content of the file without line ends. A file that is missing or
    /// empty stands for no ETag; a missing one is a warning too, and so is one that is not UTF-8.
    static func compareLine(_ path: String) -> (line: String, warnings: [String]) {
        let none = "If-None-Match: \"\""
        guard let bytes = try? CurlFile.readText(path, standardInput: 0, atMost: maximumBytes) else {
            return (none, ["Failed to open \(path): \(CurlFile.reason(path))"])
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return (none, ["The ETag in \(path) is not UTF-8, and is not sent"])
        }
        return (text.isEmpty ? none : "If-None-Match: \(text)", [])
    }

    /// What `--etag-save` writes for a response: the value of the last ETag and a line end. `nil` if nothing is
    /// written: the status is not 2xx or 3xx, or there is no value. A file that exists keeps its content then, and
    /// one that does not is created empty before the transfer.
    static func content(status: Int, etags: [String]) -> [UInt8]? {
        guard (200..<400).contains(status) else { return nil }
        let value = etags.last { !$0.utf8.trimmingBlanks.isEmpty }
        return value.map { SystemPath.bytes(of: $0.utf8.trimmingBlanks.text) + [10] }
    }
}
