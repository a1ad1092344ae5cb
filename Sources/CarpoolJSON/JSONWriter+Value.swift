import CJansson

extension JSONWriter {
    /// A parsed value: members in their order, big numbers as their text, reals in the shortest form.
    ///
    /// Recursion is bounded by the depth that the parser accepts.
    public mutating func value(_ value: JSON) {
        node(value.node, holdsBigNumbers: value.document.holdsBigNumbers)
        withExtendedLifetime(value) {}
    }

    private mutating func node(_ node: UnsafeMutablePointer<json_t>, holdsBigNumbers: Bool) {
        switch CJansson_typeof(node) {
        case JSON_OBJECT: object(node, holdsBigNumbers: holdsBigNumbers)
        case JSON_ARRAY: array(node, holdsBigNumbers: holdsBigNumbers)
        case JSON_STRING:
            let content = UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node))
            if holdsBigNumbers, let number = BigNumbers.text(in: content) { raw(number) } else { validString(content) }
        case JSON_INTEGER: integer(Int64(json_integer_value(node)))
        case JSON_REAL: real(json_real_value(node))
        case JSON_TRUE: bool(true)
        case JSON_FALSE: bool(false)
        default: null()
        }
    }

    private mutating func object(_ object: UnsafeMutablePointer<json_t>, holdsBigNumbers: Bool) {
        beginObject()
        var iterator = json_object_iter(object)
        while let member = iterator, let value = json_object_iter_value(member) {
            key(
                validUTF8: UnsafeRawBufferPointer(
                    start: json_object_iter_key(member), count: json_object_iter_key_len(member)))
            node(value, holdsBigNumbers: holdsBigNumbers)
            iterator = json_object_iter_next(object, member)
        }
        endObject()
    }

    private mutating func array(_ array: UnsafeMutablePointer<json_t>, holdsBigNumbers: Bool) {
        beginArray()
        for index in 0..<json_array_size(array) {
            if let element = json_array_get(array, index) { node(element, holdsBigNumbers: holdsBigNumbers) }
        }
        endArray()
    }
}
