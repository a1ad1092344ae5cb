internal import CarpoolExchange
internal import CarpoolSystem
internal import Glibc

/// Describes the exchanges: `-v`, `--trace` and `--trace-ascii`.
final class CurlTrace {
    private enum Format {
        case none, verbose, ascii, hexadecimal
    }

    private let format: Format
    private let console: CurlConsole
    private let file: BodyOutput?
    private let writesToOutput: Bool
    private let hasTime: Bool
    private var isBodyNamed = false

    init(_ global: CurlGlobalOptions, _ console: CurlConsole) throws(CurlError) {
        self.console = console
        hasTime = global.tracesTime
        var path: String?
        switch global.trace {
        case .none: format = .none
        case .verbose: format = .verbose
        case .ascii(let name): (format, path) = (.ascii, name)
        case .hexadecimal(let name): (format, path) = (.hexadecimal, name)
        }
        writesToOutput = path == "-"
        file = try path.flatMap { $0 == "-" || $0 == "%" ? nil : $0 }.map { (path) throws(CurlError) in
            try CurlOutputFile.open(path, .truncating)
        }
    }

    var isOn: Bool { format != .none }

    /// Whether the bytes of bodies are described.
    var hasBodies: Bool { format == .ascii || format == .hexadecimal }

    /// A remark.
    func info(_ text: String) {
        switch format {
        case .none: return
        case .verbose: write(Array("* \(text)\n".utf8))
        case .ascii, .hexadecimal: write(Array("== Info: \(text)\n".utf8))
        }
    }

    /// The head of a request.
    func sent(head: [UInt8]) { describe(head, mark: ">", title: "=> Send header") }

    /// The body of a request.
    func sent(body: [UInt8]) {
        if hasBodies { return describe(body, mark: "}", title: "=> Send data") }
        name(count: body.count, mark: "}")
    }

    /// The heads of a response.
    func received(head: [UInt8]) {
        guard hasBodies else { return describe(head, mark: "<", title: "<= Recv header") }
        for line in CurlTrace.lines(head) { describe(line, mark: "<", title: "<= Recv header") }
    }

    /// A piece of a body.
    func received(body: [UInt8]) { if hasBodies { describe(body, mark: "{", title: "<= Recv data") } }

    /// Names the first bytes of a body with `-v`: once after a head, and not if they are on the terminal too.
    func received(count: Int) { name(count: count, mark: "{") }

    private func name(count: Int, mark: String) {
        guard case .verbose = format, count > 0, !isBodyNamed, !console.output.isTerminal else { return }
        isBodyNamed = true
        write(Array("\(mark) [\(count) bytes data]\n".utf8))
    }

    private func describe(_ bytes: [UInt8], mark: String, title: String) {
        guard !bytes.isEmpty else { return }
        switch format {
        case .none: return
        case .verbose:
            isBodyNamed = false
            for line in CurlTrace.lines(bytes) { write(Array("\(mark) ".utf8) + line) }
        case .ascii, .hexadecimal:
            let size = String(bytes.count, radix: 16)
            write(Array("\(title), \(bytes.count) bytes (0x\(size))\n".utf8))
            format == .ascii ? dumpText(bytes) : dumpHexadecimal(bytes)
        }
    }

    /// The lines with their ends.
    private static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 10) {
            lines.append(Array(rest[...end]))
            rest = rest[(end + 1)...]
        }
        if !rest.isEmpty { lines.append(Array(rest)) }
        return lines
    }

    private static let textColumns = 64
    private static let hexadecimalColumns = 16

    private func dumpText(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            var line = Array((CurlTrace.digits(offset, 4) + ": ").utf8)
            var index = offset
            while index < bytes.count, index < offset + CurlTrace.textColumns {
                if bytes[index...].starts(with: [13, 10]) {
                    index += 2
                    break
                }
                line.append((0x20..<0x7F).contains(bytes[index]) ? bytes[index] : UInt8(ascii: "."))
                index += 1
                if index == offset + CurlTrace.textColumns, bytes[index...].starts(with: [13, 10]) {
                    index += 2
                    break
                }
            }
            offset = index
            write(line + [10])
        }
    }

    private func dumpHexadecimal(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            let row = bytes[offset..<min(bytes.count, offset + CurlTrace.hexadecimalColumns)]
            var line = CurlTrace.digits(offset, 4) + ": "
            for byte in row { line += CurlTrace.digits(Int(byte), 2) + " " }
            line += String(repeating: "   ", count: CurlTrace.hexadecimalColumns - row.count)
            let text = row.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }
            write(Array(line.utf8) + text + [10])
            offset += CurlTrace.hexadecimalColumns
        }
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    private func write(_ bytes: [UInt8]) {
        let line = hasTime ? Array(CurlTrace.time().utf8) + bytes : bytes
        if let file {
            try? file.write(line)
        } else if writesToOutput {
            try? console.output.write(line)
        } else {
            console.write(line)
        }
    }

    private static func time() -> String {
        let now = WallClock.microseconds()
        var seconds = time_t(now / 1_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func padded(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(padded(Int(parts.tm_hour), 2)):\(padded(Int(parts.tm_min), 2)):\(padded(Int(parts.tm_sec), 2))."
            + "\(padded(Int(now % 1_000_000), 6)) "
    }
}
