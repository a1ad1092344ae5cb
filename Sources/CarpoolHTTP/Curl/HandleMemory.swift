internal import CCurl
internal import Glibc

/// One block of C memory for a request: libcurl's error buffer, the nodes of its header list, and their texts. One
/// allocation instead of two for each field, and no walk to the list's end for each.
struct HandleMemory {
    private let base: UnsafeMutableRawPointer
    /// A NUL-terminated text; empty until libcurl reports an error.
    let errorText: UnsafeMutablePointer<CChar>
    /// `nil` if there are no headers.
    let headerList: UnsafeMutablePointer<curl_slist>?

    /// Lays out `Name: value` lines: first those of `defaults` that no field overrides, where `Name:` without a value
    /// keeps libcurl from adding its own; then the fields, and those that authenticate the hop. Returns `nil` if memory
    /// is out.
    /// - Parameter sendsHost: whether a `Host` field is sent as it is. Otherwise libcurl takes the host from the URL.
    init?(fields: [HTTPField], _ hopFields: HopFields?, sendsHost: Bool, defaults: ArraySlice<DefaultField>) {
        let fields = HandleMemory.withoutHost(fields, butFirst: sendsHost)
        let added = defaults.filter { field in !fields.contains { $0.isNamed(field.name) } }
        var bytes = 0
        for field in fields { bytes += field.name.utf8.count + (field.text?.count ?? field.value.utf8.count) + 3 }
        for field in added { bytes += field.name.utf8CodeUnitCount + field.value.utf8CodeUnitCount + 3 }
        let answers = hopFields.map(HandleMemory.answers) ?? []
        for answer in answers { bytes += answer.name.utf8CodeUnitCount + answer.value.count + 3 }
        let stride = MemoryLayout<curl_slist>.stride
        let nodes = fields.count + added.count + answers.count
        let head = Int(CURL_ERROR_SIZE) + nodes * stride
        guard let base = malloc(head + bytes) else { return nil }
        self.base = base
        errorText = base.bindMemory(to: CChar.self, capacity: Int(CURL_ERROR_SIZE))
        errorText[0] = 0
        let list = (base + Int(CURL_ERROR_SIZE)).bindMemory(to: curl_slist.self, capacity: nodes)
        headerList = nodes == 0 ? nil : list
        var text = base + head
        for (index, field) in added.enumerated() {
            list[index] = curl_slist(data: text.assumingMemoryBound(to: CChar.self), next: list + index + 1)
            HandleMemory.write(field, at: &text)
        }
        for (index, field) in fields.enumerated() {
            let node = list + added.count + index
            node.pointee = curl_slist(data: text.assumingMemoryBound(to: CChar.self), next: node + 1)
            HandleMemory.write(field, at: &text)
        }
        for (index, answer) in answers.enumerated() {
            let node = list + added.count + fields.count + index
            node.pointee = curl_slist(data: text.assumingMemoryBound(to: CChar.self), next: node + 1)
            HandleMemory.write(answer.name.utf8Start, answer.name.utf8CodeUnitCount, at: &text)
            HandleMemory.write(0x3A, at: &text)
            HandleMemory.write(0x20, at: &text)
            answer.value.withUnsafeBufferPointer { value in
                if let start = value.baseAddress { HandleMemory.write(start, value.count, at: &text) }
            }
            HandleMemory.write(0, at: &text)
        }
        if nodes > 0 { list[nodes - 1].next = nil }
    }

    /// The fields that authenticate a hop.
    private static func answers(_ fields: HopFields) -> [(name: StaticString, value: [UInt8])] {
        var answers: [(name: StaticString, value: [UInt8])] = []
        if let value = fields.authorization { answers.append(("Authorization", value)) }
        if let value = fields.proxyAuthorization { answers.append(("Proxy-Authorization", value)) }
        return answers
    }

    func free() { Glibc.free(base) }

    /// Removes `Host` fields, or all but the first: two of them would be two requests for some servers.
    private static func withoutHost(_ fields: [HTTPField], butFirst: Bool) -> [HTTPField] {
        guard let first = fields.firstIndex(where: { $0.isNamed("host") }) else { return fields }
        return fields.indices.filter { butFirst && $0 == first || !fields[$0].isNamed("host") }.map { fields[$0] }
    }

    private static func write(_ field: HTTPField, at text: inout UnsafeMutableRawPointer) {
        write(field.name, at: &text)
        if field.value.isEmpty {
            // libcurl's form for a field without a value; `Name:` would take the field away.
            write(0x3B, at: &text)
        } else {
            write(0x3A, at: &text)
            if let bytes = field.text {
                bytes.withUnsafeBufferPointer { buffer in
                    if let start = buffer.baseAddress { write(start, buffer.count, at: &text) }
                }
            } else {
                write(0x20, at: &text)
                write(field.value, at: &text)
            }
        }
        write(0, at: &text)
    }

    private static func write(_ field: DefaultField, at text: inout UnsafeMutableRawPointer) {
        write(field.name.utf8Start, field.name.utf8CodeUnitCount, at: &text)
        write(0x3A, at: &text)
        if field.value.utf8CodeUnitCount > 0 {
            write(0x20, at: &text)
            write(field.value.utf8Start, field.value.utf8CodeUnitCount, at: &text)
        }
        write(0, at: &text)
    }

    private static func write(_ string: String, at text: inout UnsafeMutableRawPointer) {
        var string = string
        string.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return }
            write(start, bytes.count, at: &text)
        }
    }

    private static func write(_ bytes: UnsafePointer<UInt8>, _ count: Int, at text: inout UnsafeMutableRawPointer) {
        text.copyMemory(from: bytes, byteCount: count)
        text += count
    }

    private static func write(_ byte: UInt8, at text: inout UnsafeMutableRawPointer) {
        text.storeBytes(of: byte, as: UInt8.self)
        text += 1
    }
}
