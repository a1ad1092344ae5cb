/// A header field that a request has unless it brings one of the same name.
struct DefaultField {
    let name: StaticString
    /// Empty for a field that is not to be there at all, though libcurl would add it.
    var value: StaticString = ""
}
