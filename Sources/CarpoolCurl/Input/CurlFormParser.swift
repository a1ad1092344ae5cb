internal import CarpoolSystem
internal import Glibc

/// Makes the parts of a form from the texts of `-F` and `--form-string`.
struct CurlFormParser {
    /// The open groups, from the form itself to the innermost `=(`.
    private var open = [CurlFormPart(content: .parts([]))]
    private(set) var warnings: [String] = []
    private let standardInput: Int32
    private var hasReadStandardInput = false
    /// The first failure that counts only if all options are right.
    private var failure: CurlError?

    private static let comma = UInt8(ascii: ",")

    init(standardInput: Int32) { self.standardInput = standardInput }

    /// The form; groups that were not closed end here.
    mutating func finish() throws(CurlError) -> CurlFormPart {
        if let failure { throw failure }
        while open.count > 1 { closeGroup() }
        return open[0]
    }

    /// Adds the part or the parts of one option. Files are looked up and standard input is read now.
    mutating func add(_ argument: CurlFormArgument) throws(CurlError) {
        let field = try CurlFormField(argument, openGroups: open.count - 1)
        switch field.role {
        case .literal: append(CurlFormPart(name: field.name, content: .bytes(field.content)))
        case .files: try addFiles(field.name, CurlFormText(field.content))
        case .value: try addValue(field.name, CurlFormText(field.content))
        case .opensGroup: try openGroup(field.name, CurlFormText(field.content))
        case .closesGroup: closeGroup()
        }
    }

    private mutating func append(_ part: CurlFormPart) {
        guard case .parts(var parts) = open[open.count - 1].content else { return }
        // The list is moved out, so that it is not copied.
        open[open.count - 1].content = .parts([])
        parts.append(part)
        open[open.count - 1].content = .parts(parts)
    }

    private mutating func closeGroup() {
        guard let group = open.popLast() else { return }
        append(group)
    }

    private mutating func openGroup(_ name: [UInt8]?, _ text: CurlFormText) throws(CurlError) {
        var text = text
        let value = text.value()
        refuse(value.fileName, "filename")
        refuse(value.encoder, "encoder")
        var part = CurlFormPart(name: name, type: value.type, content: .parts([]))
        part.headers = try headers(value)
        take(text)
        open.append(part)
    }

    private mutating func addFiles(_ name: [UInt8]?, _ text: CurlFormText) throws(CurlError) {
        var text = text
        var files: [CurlFormPart] = []
        var isGroup: Bool?
        repeat {
            text.index += 1
            let value = text.value(endsWith: CurlFormParser.comma)
            isGroup = isGroup ?? (value.separator == CurlFormParser.comma)
            files.append(try file(value))
            if value.separator == nil { break }
        } while true
        take(text)
        if isGroup == true {
            append(CurlFormPart(name: name, content: .parts(files)))
        } else {
            files[files.count - 1].name = name
            for file in files { append(file) }
        }
    }

    /// The part of a file that is sent as a file, with its name.
    private mutating func file(_ value: CurlFormText.Value) throws(CurlError) -> CurlFormPart {
        var part = CurlFormPart(content: try content(value.data))
        part.fileName = value.fileName ?? CurlFormParser.lastComponent(value.data)
        part.type = value.type
        part.encoder = encoder(value.encoder)
        part.headers = try headers(value)
        return part
    }

    private mutating func addValue(_ name: [UInt8]?, _ text: CurlFormText) throws(CurlError) {
        var text = text
        let isFile = text.rest.first == UInt8(ascii: "<")
        if isFile { text.index += 1 }
        let value = text.value()
        if isFile { refuse(value.fileName, "filename") }
        var part = CurlFormPart(
            name: name, fileName: isFile ? nil : value.fileName, type: value.type,
            content: isFile ? try content(value.data) : .bytes(value.data))
        part.encoder = encoder(value.encoder)
        part.headers = try headers(value)
        take(text)
        if value.separator != nil { warnings.append("garbage at end of field specification: \(text.rest.text)") }
        append(part)
    }

    private mutating func take(_ text: CurlFormText) { warnings += text.warnings }

    private mutating func refuse(_ value: [UInt8]?, _ parameter: String) {
        if let value { warnings.append("Field \(parameter) not allowed here: \(value.text)") }
    }

    private mutating func encoder(_ name: [UInt8]?) -> CurlFormPart.Encoder? {
        guard let name else { return nil }
        let encoder = CurlFormPart.Encoder(rawValue: name.map(\.lowercase).text)
        if encoder == nil { failure = failure ?? CurlError(CurlExitCode.badArgument) }
        return encoder
    }

    /// The file, whose length is known if it is a regular one, or standard input, which is read now if it is none.
    private mutating func content(_ path: [UInt8]) throws(CurlError) -> CurlFormPart.Content {
        if path == [UInt8(ascii: "-")] { return try contentOfStandardInput() }
        var status = stat()
        guard stat(path.text, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            failure = failure ?? CurlForm.unreadable
            return .bytes([])
        }
        return .file(path.text, length: status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil)
    }

    private mutating func contentOfStandardInput() throws(CurlError) -> CurlFormPart.Content {
        defer { hasReadStandardInput = true }
        if hasReadStandardInput { return .bytes([]) }
        if let status = try? FileStatus(of: standardInput), status.kind == .regular {
            return .standardInput(max(0, status.size - Int64(lseek(standardInput, 0, SEEK_CUR))))
        }
        return .bytes(try CurlFile.read("-", standardInput: standardInput))
    }

    /// The lines of `headers=`; a file that cannot be read is a warning.
    private mutating func headers(_ value: CurlFormText.Value) throws(CurlError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for header in value.headers {
            switch header {
            case .line(let line): lines.append(line)
            case .file(let path):
                do throws(SystemError) {
                    let limit = CurlHeaderLines.maximumFileBytes
                    lines += CurlFormHeaders.lines(try NamedPath.read(path.text, atMost: limit))
                } catch {
                    warnings.append("Cannot read from \(path.text): \(error.reason)")
                }
            }
        }
        return lines
    }

    /// What basename(3) returns.
    private static func lastComponent(_ path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        guard let end = path.lastIndex(where: { $0 != slash }) else {
            return path.isEmpty ? [UInt8(ascii: ".")] : [slash]
        }
        let name = path[...end]
        return Array(name[(name.lastIndex(of: slash).map { $0 + 1 } ?? 0)...])
    }
}
