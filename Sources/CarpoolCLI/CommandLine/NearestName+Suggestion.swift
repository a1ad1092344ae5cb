internal import CarpoolJSON

extension NearestName {
    /// The end of a message about an unknown word: the known one that is nearest to it; empty if none is near.
    static func suggestion(for word: String, among candidates: some Sequence<String>) -> String {
        find(word, among: candidates).map { "; did you mean \($0)?" } ?? ""
    }
}
