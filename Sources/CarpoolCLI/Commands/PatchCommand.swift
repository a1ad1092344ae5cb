/// `carpool patch`
enum PatchCommand: BodyCommand {
    static let name = "patch"
    static let method = "PATCH"
    static let summary = "modify the resource at a URL"

    static var examples: [String] {
        ["carpool patch --json '{\"name\": \"Grace\"}' https://example.com/people/1"]
    }
}
