internal import CCurl

/// libcurl's handle of one hop, with the C memory that must live as long: the header list and the buffer for error
/// texts. Made fresh for every hop, never used again: a recycled handle carries state from one client's request to
/// another's.
struct EasyHandle {
    let raw: UnsafeMutableRawPointer
    private let memory: HandleMemory

    /// Makes a handle; `nil` if memory is out.
    /// - Parameter sendsHost: whether a `Host` field is sent as it is.
    init?(
        fields: [HTTPField], hopFields: HopFields? = nil, sendsHost: Bool = false, defaults: ArraySlice<DefaultField>
    ) {
        guard let raw = curl_easy_init() else { return nil }
        guard let memory = HandleMemory(fields: fields, hopFields, sendsHost: sendsHost, defaults: defaults) else {
            curl_easy_cleanup(raw)
            return nil
        }
        self.raw = raw
        self.memory = memory
        CCurl_set_pointer(raw, CURLOPT_ERRORBUFFER, memory.errorText)
        CCurl_set_pointer(raw, CURLOPT_HTTPHEADER, memory.headerList)
    }

    /// Frees everything. The handle must not be in a multi handle any more.
    func close() {
        curl_easy_cleanup(raw)
        memory.free()
    }

    /// libcurl's message for a failure; may be empty.
    var errorText: String { String(cString: memory.errorText) }

    func set(_ option: CURLoption, _ value: Int) { CCurl_set_long(raw, option, value) }
    func set(_ option: CURLoption, offset value: Int64) { CCurl_set_offset(raw, option, curl_off_t(value)) }
    func set(_ option: CURLoption, text value: String) { CCurl_set_text(raw, option, value) }
    func set(_ option: CURLoption, pointer value: UnsafeRawPointer?) { CCurl_set_pointer(raw, option, value) }

    func long(_ info: CURLINFO) -> Int { CCurl_get_long(raw, info) }
    func offset(_ info: CURLINFO) -> Int64 { Int64(CCurl_get_offset(raw, info)) }
    func text(_ info: CURLINFO) -> String? { CCurl_get_text(raw, info).map { String(cString: $0) } }
}
