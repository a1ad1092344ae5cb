import CJansson

extension JSONWriter {
    /// A parsed value: members in their order, numbers and large values in their spelling, without blanks.
    ///
    /// Recursion is bounded by the depth that the parser accepts.
    public mutating func value(_ value: JSON) {
        node(value.node, value.document)
        withExtendedLifetime(value) {}
    }

    private mutating func node(_ node: UnsafeMutablePointer<json_t>, _ document: JSONDocument) {
        switch CJansson_typeof(node) {
        case JSON_OBJECT: object(node, document)
        case JSON_ARRAY: array(node, document)
        case JSON_STRING:
            validString(UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node)))
        case JSON_INTEGER: integer(Int64(json_integer_value(node)))
        case JSON_REAL: document.withText(of: node) { text($0, isNumber: $0.first != nil && JSONNumber.begins($0)) }
        case JSON_TRUE: bool(true)
        case JSON_FALSE: bool(false)
        default: null()
        }
    }

    private mutating func text(_ text: UnsafeRawBufferPointer, isNumber: Bool) {
        if isNumber { return raw(text) }
        // The text has been read before, so it cannot be refused here.
        if let compact = try? JSONTokenizer.compacted(text) { raw(compact) } else { null() }
    }

    private mutating func object(_ object: UnsafeMutablePointer<json_t>, _ document: JSONDocument) {
        let isEscaped = document.source?.escapesNames == true
        beginObject()
        var iterator = json_object_iter(object)
        while let member = iterator, let value = json_object_iter_value(member) {
            let name = UnsafeRawBufferPointer(
                start: json_object_iter_key(member), count: json_object_iter_key_len(member))
            if isEscaped {
                JSONSource.unescape(name: name).withUnsafeBytes { key(validUTF8: $0) }
            } else {
                key(validUTF8: name)
            }
            node(value, document)
            iterator = json_object_iter_next(object, member)
        }
        endObject()
    }

    private mutating func array(_ array: UnsafeMutablePointer<json_t>, _ document: JSONDocument) {
        beginArray()
        for index in 0..<json_array_size(array) {
            if let element = json_array_get(array, index) { node(element, document) }
        }
        endArray()
    }
}
