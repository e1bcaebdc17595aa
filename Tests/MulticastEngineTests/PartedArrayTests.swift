import Testing

@testable import MulticastEngine

@Test("an array in parts has what an array has, over the ends of its parts")
func partedArray() {
    var (parted, array) = (PartedArray<Int>(), [Int]())
    for number in 0..<1537 {
        parted.append(number)
        array.append(number)
    }
    for index in stride(from: 0, to: 1537, by: 64) {
        parted[index] += 1
        array[index] += 1
    }
    #expect(parted.count == 1537 && parted.indices.map { parted[$0] } == array)
}
