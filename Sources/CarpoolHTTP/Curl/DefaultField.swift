/// A header field that is added to a request that has none of the same name.
struct DefaultField {
    let name: StaticString
    /// Empty: libcurl is kept from adding the field.
    var value: StaticString = ""
}
