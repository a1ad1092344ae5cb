package import CarpoolSystem

/// Prints a body on a terminal while it arrives: JSON laid out once it is whole, text with its control characters
/// escaped, and nothing of a binary body.
package struct TerminalBody {
    private enum Mode {
        case undecided
        /// Kept until it is whole.
        case json
        case text
    }

    private let type: String
    private let layout: JSONLayout
    private let laysOut: Bool
    private var mode = Mode.undecided
    private var kept: [UInt8] = []
    /// Bytes of a character that is not complete yet.
    private var rest: [UInt8] = []

    /// How many bytes show whether a body is text.
    private static let sampleBytes = 4_096

    /// - Parameters:
    ///   - contentType: the field of the response; empty for none.
    ///   - laysOut: whether JSON is laid out.
    package init(contentType: String, laysOut: Bool, _ environment: Environment = .process) {
        self.laysOut = laysOut
        type = contentType.prefix { $0 != ";" }.lowercased()
        let isColored = environment["NO_COLOR"]?.isEmpty ?? true && environment["TERM"] != "dumb"
        layout = JSONLayout(hasColors: isColored)
    }

    /// Adds bytes; returns what to print now.
    package mutating func add(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
        if case .undecided = mode, !bytes.isEmpty {
            guard !TerminalBody.isBinary(bytes.prefix(TerminalBody.sampleBytes)) else { throw binary }
            let isJSON = type.hasSuffix("/json") || type.hasSuffix("+json")
            mode = isJSON && laysOut ? .json : .text
        }
        guard case .json = mode else { return printable(bytes) }
        kept += bytes
        guard kept.count > JSONLayout.maximumBytes else { return [] }
        mode = .text
        let all = kept
        kept = []
        return printable(all)
    }

    /// Ends the body; returns what is left to print.
    package mutating func finish() -> [UInt8] {
        defer {
            kept = []
            rest = []
        }
        let safe = PlainText.escapedJSON(kept)
        if !kept.isEmpty { return layout.text(safe) ?? printable(kept) }
        return rest.isEmpty ? [] : Array("\u{FFFD}".utf8)
    }

    private var binary: Failure {
        Failure(
            .transferFailed, "the body is binary\(type.isEmpty ? "" : " (\(type))") and is not printed on a terminal",
            hint: "write it to a file with -o FILE, or pipe it to a program")
    }

    /// Whether a body is no text: by a NUL, as curl does, or by many control characters that no text has. A few of them
    /// in a text are printed as escapes.
    private static func isBinary(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard !bytes.contains(0) else { return true }
        let count = bytes.count { ($0 < 0x20 || $0 == 0x7F) && !TerminalBody.controlsOfText.contains($0) }
        return count * TerminalBody.bytesPerControl > bytes.count
    }

    /// Backspace, tab, the ends of lines and pages, and escape.
    private static let controlsOfText: Set<UInt8> = [0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1B]
    /// A body with more than one other control character in so many bytes is binary: of random bytes, it is one in ten.
    private static let bytesPerControl = 32

    /// Text whose control characters are escaped, but tabs and line ends.
    private mutating func printable(_ bytes: [UInt8]) -> [UInt8] {
        let all = rest + bytes
        let end = TerminalBody.completeEnd(of: all)
        rest = Array(all[end...])
        var result = ""
        var line: [UInt8] = []
        for byte in all[..<end] {
            guard byte == 0x0A || byte == 0x09 || byte == 0x0D else {
                line.append(byte)
                continue
            }
            result += PlainText.escaped(line.isEmpty ? "" : String(decoding: line, as: UTF8.self))
            result.unicodeScalars.append(Unicode.Scalar(byte))
            line = []
        }
        result += PlainText.escaped(String(decoding: line, as: UTF8.self))
        return Array(result.utf8)
    }

    /// The end of the last complete character of UTF-8.
    private static func completeEnd(of bytes: [UInt8]) -> Int {
        for back in 1...3 where bytes.count >= back {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? bytes.count - back : bytes.count
        }
        return bytes.count
    }
}
