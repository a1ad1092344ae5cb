internal import CarpoolSystem

/// Prints the text of `-w` for one transfer.
struct CurlWriteOutPrinter {
    private let text: [UInt8]
    private let context: CurlWriteOutContext
    private let version: String
    private let program: String
    private let escapesValues: (CurlWriteOut.Destination) -> Bool
    private var index = 0
    private var pieces: [CurlWriteOut.Piece] = []
    private var destination = CurlWriteOut.Destination.standardOutput
    /// Whether the rest is not printed.
    private var isDone = false

    /// curl knows no longer names of fields and files.
    private static let maximumFieldBytes = 255
    private static let maximumFileBytes = 511

    init(_ writeOut: CurlWriteOut, _ context: CurlWriteOutContext) {
        text = writeOut.text
        version = writeOut.version
        program = writeOut.program
        escapesValues = writeOut.escapesValues
        self.context = context
    }

    mutating func print() -> [CurlWriteOut.Piece] {
        while index < text.count, !isDone {
            let byte = text[index]
            let next = index + 1 < text.count ? text[index + 1] : nil
            if byte == UInt8(ascii: "%"), let next {
                printPercent(next)
            } else if byte == UInt8(ascii: "\\"), let next {
                printBackslash(next)
            } else {
                append([byte])
                index += 1
            }
        }
        return pieces
    }

    private mutating func append(_ bytes: some Sequence<UInt8>, to other: CurlWriteOut.Destination? = nil) {
        let place = other ?? destination
        if pieces.last?.destination == place {
            pieces[pieces.count - 1].bytes += bytes
        } else {
            // A file that was opened goes on being written.
            let isOpened = pieces.contains { $0.destination == place }
            pieces.append(CurlWriteOut.Piece(destination: isOpened ? place.appending : place, bytes: Array(bytes)))
        }
    }

    private mutating func printBackslash(_ next: UInt8) {
        switch next {
        case UInt8(ascii: "n"): append([10])
        case UInt8(ascii: "r"): append([13])
        case UInt8(ascii: "t"): append([9])
        default: append([UInt8(ascii: "\\"), next])
        }
        index += 2
    }

    private mutating func printPercent(_ next: UInt8) {
        let rest = text[(index + 1)...]
        if next == UInt8(ascii: "{") {
            take("{") { $0.printVariable($1) }
        } else if rest.starts(with: "header{".utf8) {
            take("header{") { $0.printField($1) }
        } else if rest.starts(with: "output{".utf8) {
            take("output{") { $0.switchFile($1) }
        } else {
            append(next == UInt8(ascii: "%") ? [next] : [UInt8(ascii: "%"), next])
            index += 2
        }
    }

    /// Takes the text up to a closing brace; without one the opening is printed.
    private mutating func take(_ opening: String, _ use: (inout CurlWriteOutPrinter, ArraySlice<UInt8>) -> Void) {
        let start = index + 1 + opening.utf8.count
        index = start
        guard let end = text[start...].firstIndex(of: UInt8(ascii: "}")) else {
            return append(Array("%\(opening)".utf8))
        }
        index = end + 1
        use(&self, text[start..<end])
    }

    private mutating func printVariable(_ name: ArraySlice<UInt8>) {
        switch name.text {
        case "onerror": isDone = context.report.exitCode == 0
        case "stdout": destination = .standardOutput
        case "stderr": destination = .standardError
        case "json": appendJSON(CurlWriteOutJSON.transfer(context, version: version))
        case "header_json": appendJSON(CurlWriteOutJSON.headers(context.report))
        default:
            if let variable = CurlWriteOutVariable.named(name) {
                appendValue(CurlWriteOutPrinter.text(variable.value(context)))
            } else {
                append("\(program): unknown --write-out variable: '\(name.text)'\n".utf8, to: .standardError)
            }
        }
    }

    private static func text(_ value: CurlWriteOutVariable.Value) -> [UInt8] {
        switch value {
        case .none: return []
        case .text(let text): return SystemPath.bytes(of: text)
        case .number(let number): return Array(String(number).utf8)
        case .status(let status):
            let digits = String(status)
            return Array((String(repeating: "0", count: max(0, 3 - digits.count)) + digits).utf8)
        case .time(let microseconds): return seconds(microseconds)
        }
    }

    /// Seconds with six decimals.
    static func seconds(_ microseconds: Int64) -> [UInt8] {
        let decimals = String(microseconds % 1_000_000)
        let zeros = String(repeating: "0", count: max(0, 6 - decimals.count))
        return Array("\(microseconds / 1_000_000).\(zeros)\(decimals)".utf8)
    }

    private mutating func printField(_ name: ArraySlice<UInt8>) {
        guard name.count <= CurlWriteOutPrinter.maximumFieldBytes, let value = context.values(name).first else {
            return
        }
        appendValue(SystemPath.bytes(of: value))
    }

    private mutating func appendValue(_ bytes: [UInt8]) {
        guard escapesValues(destination) else { return append(bytes) }
        append(PlainText.escaped(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    private mutating func appendJSON(_ bytes: [UInt8]) {
        append(escapesValues(destination) ? PlainText.escapedJSON(bytes) : bytes)
    }

    private mutating func switchFile(_ name: ArraySlice<UInt8>) {
        let appends = name.starts(with: ">>".utf8)
        let path = appends ? name.dropFirst(2) : name
        guard !path.isEmpty, path.count <= CurlWriteOutPrinter.maximumFileBytes else { return }
        destination = .file(path.text, appends: appends)
        pieces.append(CurlWriteOut.Piece(destination: destination, bytes: []))
    }
}

extension CurlWriteOut.Destination {
    /// The destination after it was opened once.
    fileprivate var appending: CurlWriteOut.Destination {
        if case .file(let path, _) = self { .file(path, appends: true) } else { self }
    }
}
