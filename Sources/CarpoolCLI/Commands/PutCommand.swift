/// `carpool put`
enum PutCommand: BodyCommand {
    static let name = "put"
    static let method = "PUT"
    static let summary = "store a body at a URL"

    static var examples: [String] {
        ["carpool put -H 'Content-Type: text/html' -d @page.html https://example.com/page.html"]
    }
}
